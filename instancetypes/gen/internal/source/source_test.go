package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// write puts files below a fresh directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func TestParseDownload(t *testing.T) {
	m := Module{Path: "example.com/m", Version: "v1.2.3", Sum: "h1:right"}
	dir, err := parseDownload(m, []byte(`{"Dir":"/cache/m","Sum":"h1:right"}`), nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "/cache/m", dir)

	for _, tt := range []struct {
		name, stdout, stderr string
		err                  error
		want                 string
	}{
		{"another content", `{"Dir":"/cache/m","Sum":"h1:wrong"}`, "", nil, "download example.com/m@v1.2.3: content has checksum h1:wrong, want h1:right"},
		{"unknown module", `{"Error":"not found"}`, "", errors.New("exit status 1"), "download example.com/m@v1.2.3: not found"},
		{"no go command", ``, "no such file\n", errors.New("exit status 127"), "exit status 127: no such file"},
		{"failure without a reason", `{}`, "boom", errors.New("exit status 2"), "exit status 2: boom"},
		{"nonsense", `nonsense`, "", nil, "invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseDownload(m, []byte(tt.stdout), []byte(tt.stderr), tt.err)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

const pricesAWS = `package pricing

// generated at 2026-07-06T14:20:29Z for us-east-1

var Other = 3

var InitialOnDemandPricesAWS = map[string]map[ec2types.InstanceType]float64{
	"us-east-1": {
		// a1 family
		"a1.large": 0.051000, "m5.large": 0.096000,
	},
}
`

const pricesGov = `package pricing

// generated at 2026-06-15T15:14:03Z for us-east-1

var InitialOnDemandPricesUSGov = map[string]map[ec2types.InstanceType]float64{
	"us-gov-east-1": {"m5.large": 0.121},
	"us-gov-west-1": {"m5.large": 0.122},
}
`

func karpenterDir(t *testing.T, aws, gov, bandwidth string) string {
	t.Helper()
	return write(t, map[string]string{
		"pkg/providers/pricing/zz_generated.pricing_aws.go":        aws,
		"pkg/providers/pricing/zz_generated.pricing_aws_us_gov.go": gov,
		"pkg/providers/instancetype/zz_generated.bandwidth.go":     bandwidth,
	})
}

func TestReadPrices(t *testing.T) {
	got, err := ReadPrices(karpenterDir(t, pricesAWS, pricesGov, ""))
	require.NoError(t, err)
	assert.Equal(t, Prices{
		Dates: map[string]string{"us-east-1": "2026-07-06", "us-gov-east-1": "2026-06-15", "us-gov-west-1": "2026-06-15"},
		ByRegion: map[string]map[string]offerings.Price{
			"us-east-1":     {"a1.large": offerings.MustPrice("0.051"), "m5.large": offerings.MustPrice("0.096")},
			"us-gov-east-1": {"m5.large": offerings.MustPrice("0.121")},
			"us-gov-west-1": {"m5.large": offerings.MustPrice("0.122")},
		},
	}, got)
}

func TestReadPricesRefusesOtherShapes(t *testing.T) {
	for _, tt := range []struct{ name, old, with, want string }{
		{"renamed", "InitialOnDemandPricesAWS", "Prices", "no variable InitialOnDemandPricesAWS"},
		{"no date", "generated at", "made on", "says nowhere when it was generated"},
		{"a computed price", "0.096000", "1+1", "want a JSON number"},
		{"a computed key", `"m5.large"`, "key()", "cannot unmarshal array"},
		{"no keys", `"m5.large": 0.096000`, "0.096", "cannot unmarshal array"},
		{"a text", "0.096000", `"0.096"`, "want a JSON number"},
		{"not a map", "{\n\t\t// a1 family\n\t\t\"a1.large\": 0.051000, \"m5.large\": 0.096000,\n\t}", "nil", "cannot unmarshal array"},
		{"a function", "= map[string]map[ec2types.InstanceType]float64{", "= make(map[string]int)\nvar x = map[string]map[string]float64{", "cannot unmarshal array"},
		{"not Go", "package", "packag", "expected 'package'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(pricesAWS, tt.old, tt.with, 1)
			require.NotEqual(t, pricesAWS, text)
			_, err := ReadPrices(karpenterDir(t, text, pricesGov, ""))
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := ReadPrices(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadBandwidths(t *testing.T) {
	got, err := ReadBandwidths(karpenterDir(t, "", "", `package instancetype

var (
	InstanceTypeBandwidthMegabits = map[string]int64{
		// c1.medium has vague bandwidth information, bandwidth is Moderate
		"m5.large": 750,
		"m5.metal": 25000,
	}
)
`))
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"m5.large": 750, "m5.metal": 25000}, got)

	_, err = ReadBandwidths(karpenterDir(t, "", "", "package p\n\nvar InstanceTypeBandwidthMegabits = map[string]int64{\"a\": 1.5}\n"))
	require.ErrorContains(t, err, "cannot unmarshal number 1.5")
	_, err = ReadBandwidths(karpenterDir(t, "", "", "package p\n"))
	require.ErrorContains(t, err, "no variable")
}

const limits = `package vpc

// This file was generated at 2026-09-02T16:44:35Z

var Limits = map[string]*VPCLimits{
	"m5.large": {
		Interface:               3,
		IPv4PerInterface:        10,
		IsTrunkingCompatible:    true,
		BranchInterface:         9,
		DefaultNetworkCardIndex: 0,
		NetworkCards: []NetworkCard{
			{MaximumNetworkInterfaces: 3, NetworkCardIndex: 0},
		},
		Hypervisor:  "nitro",
		IsBareMetal: false,
	},
	"p4d.24xlarge": &VPCLimits{
		IPv4PerInterface:        50,
		IsTrunkingCompatible:    false,
		BranchInterface:         62,
		DefaultNetworkCardIndex: 1,
		NetworkCards: []NetworkCard{
			{MaximumNetworkInterfaces: 15, NetworkCardIndex: 0, NetworkPerformance: "100 Gigabit"},
			{MaximumNetworkInterfaces: 14, NetworkCardIndex: 1},
		},
		Hypervisor: "",
	},
}
`

func TestReadLimits(t *testing.T) {
	got, date, err := ReadLimits(write(t, map[string]string{"pkg/aws/vpc/limits.go": limits}))
	require.NoError(t, err)
	assert.Equal(t, "2026-09-02", date)
	assert.Equal(t, map[string]Limit{
		"m5.large":     {Interfaces: 3, Addresses: 10, BranchInterfaces: 9, Hypervisor: "nitro"},
		"p4d.24xlarge": {Interfaces: 14, Addresses: 50},
	}, got)

	for _, tt := range []struct{ old, with, want string }{
		{"NetworkCardIndex: 1}", "NetworkCardIndex: 2}", "p4d.24xlarge: "},
		{"NetworkCardIndex: 1}", "NetworkCardIndex: 2}", "network card 1, the default, is not described"},
		{"IsTrunkingCompatible:    true", "IsTrunkingCompatible:    yes", "cannot unmarshal array"},
		{`"nitro"`, "Nitro", "cannot unmarshal array"},
		{"IPv4PerInterface:        10", "IPv4PerInterface:        ten", "cannot unmarshal array"},
		{"[]NetworkCard{", "cards(", ""},
		{"Limits =", "limits =", "no variable Limits"},
		{"generated at", "made", "says nowhere when"},
	} {
		_, _, err := ReadLimits(write(t, map[string]string{"pkg/aws/vpc/limits.go": strings.Replace(limits, tt.old, tt.with, 1)}))
		require.ErrorContains(t, err, tt.want, tt.with)
	}
}

func TestReadInstances(t *testing.T) {
	dir := write(t, map[string]string{"data/instances.json": `[
		{"instance_type": "g5.xlarge", "vCPU": 4, "memory": 16.0, "arch": ["x86_64"], "physical_processor": "AMD EPYC 7R32",
		 "GPU": 1, "GPU_model": "NVIDIA A10G", "GPU_memory": 24, "ebs_max_bandwidth": 3500, "vpc": {"ips_per_eni": 15, "max_enis": 4},
		 "storage": {"devices": 1, "size": 250, "nvme_ssd": true, "size_unit": "GB"}, "availability_zones": {"us-east-1": ["use1-az1"]},
		 "pricing": {"us-east-1": {"emr": {"emr": "0.25"}, "linux": {"ondemand": "1.006", "spot": ["0.3568"], "pct_interrupt": ">20%"}}}},
		{"instance_type": "p2.xlarge", "vpc": null, "storage": null, "GPU_model": null, "availability_zones": null, "pricing": {"x": {"mswin": {}}}}
	]`})
	got, err := ReadInstances(dir)
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, int64(250), got[0].Storage.SizeGB)
	assert.Equal(t, LinuxPrices{OnDemand: "1.006", Spot: []string{"0.3568"}, Band: ">20%"}, *got[0].Pricing["us-east-1"].Linux)
	assert.Nil(t, got[1].VPC)
	assert.Nil(t, got[1].Pricing["x"].Linux)
}

func TestReadSizes(t *testing.T) {
	dir := write(t, map[string]string{"data/azure-instances.json": `[
		{"instance_type": "b2s", "pretty_name_azure": "Standard B2s", "vcpu": 2, "memory": 4.0, "GPU": "0", "arch": ["x64"], "premium_io": true,
		 "pricing": {"us-east": {"linux": {"ondemand": 0.0416, "spot_min": null}, "windows": {"ondemand": 0.05}}}}]`})
	got, err := ReadSizes(dir)
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, Decimal("0.0416"), got[0].Pricing["us-east"].Linux.OnDemand)
	assert.Empty(t, got[0].Pricing["us-east"].Linux.Spot)
	assert.True(t, *got[0].PremiumIO)
	assert.Nil(t, got[0].AcceleratedNetworking)
}

func TestListsAreChecked(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{}`, "want a JSON array, found {"},
		{``, "EOF"},
		{`[{"vCPU": 4}, {"vCPU": "four"}]`, "element 1: "},
		{`[{}`, "EOF"},
	} {
		_, err := ReadInstances(write(t, map[string]string{"data/instances.json": tt.text}))
		require.ErrorContains(t, err, tt.want, tt.text)
		require.ErrorContains(t, err, "instances.json")
	}
}
