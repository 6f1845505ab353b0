package ec2data

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// instance makes a plain type that is sold in zones 1 and 2 of us-east-1.
func instance(name string, change func(*source.Instance)) source.Instance {
	i := source.Instance{
		Name: name, VCPU: 2, MemoryGiB: 8, Arch: []string{"x86_64"}, Processor: "Intel Xeon Platinum 8175", EBSMbps: 4750,
		Zones: map[string][]string{"us-east-1": {"use1-az2", "use1-az1"}},
		Pricing: map[string]source.RegionalPrices{
			"us-east-1": linux("0.096", ">20%", "0.04", "0.03"),
		},
	}
	if change != nil {
		change(&i)
	}
	return i
}

func linux(onDemand, band string, spot ...string) source.RegionalPrices {
	return source.RegionalPrices{Linux: &source.LinuxPrices{OnDemand: onDemand, Band: band, Spot: spot}}
}

// input holds the instances with limits for all, and fresher prices of us-east-1.
func input(fresh map[string]string, instances ...source.Instance) Input {
	in := Input{
		Instances: instances, Limits: map[string]source.Limit{}, Bandwidths: map[string]int64{"m5.large": 750},
		Fresh: source.Prices{Dates: map[string]string{"us-east-1": "2026-07-06"}, ByRegion: map[string]map[string]offerings.Price{"us-east-1": {}}},
	}
	limit := source.Limit{Interfaces: 3, Addresses: 10, BranchInterfaces: 9, Hypervisor: "nitro"}
	for _, i := range instances {
		in.Limits[i.Name] = limit
	}
	for name, price := range fresh {
		in.Fresh.ByRegion["us-east-1"][name] = offerings.MustPrice(price)
		in.Limits[name] = limit
	}
	return in
}

func build(t *testing.T, in Input) Output {
	t.Helper()
	out, err := Build(in)
	require.NoError(t, err)
	return out
}

// rows returns the rows of the only region, by type.
func rows(t *testing.T, out Output) map[string]facts.Row {
	t.Helper()
	require.Len(t, out.Regions, 1)
	byType := map[string]facts.Row{}
	for _, row := range out.Regions[0].Rows {
		byType[row.Type] = row
	}
	return byType
}

func TestADescribedType(t *testing.T) {
	out := build(t, input(nil, instance("m5.large", func(i *source.Instance) {
		i.Storage = &struct {
			Devices int64 `json:"devices"`
			SizeGB  int64 `json:"size"`
			NVMe    bool  `json:"nvme_ssd"`
		}{2, 900, true}
	})))
	assert.Equal(t, []facts.Shape{{
		Name: "m5.large", VCPU: 2, MemoryMiB: 8192, Arch: "amd64", CPUMaker: "intel", Hypervisor: "nitro",
		Interfaces: 3, Addresses: 10, BranchInterfaces: 9, NetworkMbps: 750, EBSMbps: 4750, LocalDiskGB: 1800,
	}}, out.Shapes.List)
	assert.Equal(t, []facts.Region{{
		Name: "us-east-1", FreshDate: "2026-07-06", SpotEstimated: true,
		Zones: []facts.Zone{{Letter: 'a', ID: "use1-az1"}, {Letter: 'b', ID: "use1-az2"}},
		Rows: []facts.Row{{
			Type: "m5.large", OnDemand: offerings.MustPrice("0.096"), Zones: "ab",
			Spot: offerings.MustPrice("0.03"), Band: 5,
		}},
	}}, out.Regions)
	assert.Empty(t, out.LeftOut)
}

func TestTheFresherPriceStands(t *testing.T) {
	out := build(t, input(map[string]string{"m5.large": "0.09", "m5.metal": "4.9", "m8i.metal-48xl": "10", "m8i.metal-96xl": "42", "m8i.48xlarge": "10", "m8i.96xlarge": "20"},
		instance("m5.large", nil), instance("m5.metal", nil), instance("m5.xlarge", nil)))
	got := rows(t, out)
	for name, want := range map[string]facts.Row{
		"m5.large":       {OnDemand: offerings.MustPrice("0.09"), List: facts.FresherList},
		"m5.metal":       {OnDemand: offerings.MustPrice("0.096"), List: facts.OlderList}, // dedicated tenancy is dearer
		"m5.xlarge":      {OnDemand: offerings.MustPrice("0.096"), List: facts.OlderList}, // the fresher list lacks it
		"m8i.metal-48xl": {OnDemand: offerings.MustPrice("10"), List: facts.DedicatedList},
	} {
		assert.Equal(t, want.OnDemand, got[name].OnDemand, name)
		assert.Equal(t, want.List, got[name].List, name)
	}
	assert.NotContains(t, got, "m8i.metal-96xl", "more than twice its virtual twin is the price of a host of two")
	assert.Equal(t, []string{"m8i.metal-96xl: no region is known to sell it at a price of its own"}, out.LeftOut)
}

// The prices come in ascending order and without zones, so that no zone may be the cheapest one by the order.
func TestSpotPriceIsTheMedianOfAllZones(t *testing.T) {
	sell := func(band string, spot ...string) facts.Row {
		return rows(t, build(t, input(nil, instance("m5.large", func(i *source.Instance) {
			i.Pricing["us-east-1"] = linux("0.096", band, spot...)
		}))))["m5.large"]
	}
	assert.Equal(t, "0.01", sell("<5%", "0.01").Spot.String())
	assert.Equal(t, "0.01", sell("<5%", "0.03", "0.01").Spot.String(), "the lower one of two")
	assert.Equal(t, "0.02", sell("<5%", "0.03", "0.02", "0.01", "0.000").Spot.String())
	assert.Equal(t, facts.Band(1), sell("<5%", "0.01").Band)
	assert.Zero(t, sell("", "0.01").Band)
	assert.Zero(t, sell("<5%").Band, "no spot price, no band")
	assert.Zero(t, sell("<5%", "0.000").Spot, "a price of nothing is no price")
}

func TestZonesThatNoSourceLists(t *testing.T) {
	in := input(map[string]string{"m9g.large": "0.08", "p4de.24xlarge": "27"},
		instance("m8g.large", nil),
		instance("m8i.large", func(i *source.Instance) { i.Zones["us-east-1"] = []string{"use1-az2"} }),
		instance("m7i.large", func(i *source.Instance) { i.Zones["us-east-1"] = []string{"use1-az3"} }),
		instance("p4de.24xlarge", func(i *source.Instance) { i.Zones = nil }),
		instance("m4.large", func(i *source.Instance) { i.Zones = map[string][]string{"eu-west-1": {"euw1-az1"}} }),
	)
	got := rows(t, build(t, in))
	// Zone 2 sells both types of generation 8, zone 1 one of them.
	for name, want := range map[string]facts.Row{
		"m9g.large":     {Zones: "b", Assumed: true},
		"p4de.24xlarge": {Zones: "b", Assumed: true},
		"m8i.large":     {Zones: "b"},
		"m7i.large":     {Zones: "c"},
	} {
		assert.Equal(t, want.Zones, got[name].Zones, name)
		assert.Equal(t, want.Assumed, got[name].Assumed, name)
	}
	assert.NotContains(t, got, "m4.large", "described, and not sold here")

	out := build(t, input(nil, instance("m5.large", func(i *source.Instance) {
		i.Zones = map[string][]string{"us-east-1": {"use1-az1"}}
		i.Pricing = map[string]source.RegionalPrices{"af-south-1": linux("0.1", "<5%", "0.02")}
	})))
	require.Len(t, out.Regions, 1)
	assert.Equal(t, []facts.Zone{{Letter: 'a'}, {Letter: 'b'}, {Letter: 'c'}}, out.Regions[0].Zones)
	assert.Equal(t, facts.Row{Type: "m5.large", OnDemand: offerings.MustPrice("0.1"), Zones: "abc", Assumed: true, Spot: offerings.MustPrice("0.02"), Band: 1}, out.Regions[0].Rows[0])
}

func TestLocalZonesAreNotRegions(t *testing.T) {
	out := build(t, input(nil, instance("m5.large", func(i *source.Instance) {
		for _, name := range []string{"us-east-1-bos-1", "us-east-1-wl1", "us-gov-west-1", "nonsense"} {
			i.Pricing[name] = linux("0.1", "")
		}
	})))
	var names []string
	for _, g := range out.Regions {
		names = append(names, g.Name)
	}
	assert.Equal(t, []string{"us-east-1", "us-gov-west-1"}, names)
}

func TestLeftOut(t *testing.T) {
	in := input(map[string]string{"g7e.2xlarge": "4", "m9i.large": "0.1"},
		instance("mac2.metal", func(i *source.Instance) { i.Arch = []string{"arm64_mac"} }),
		instance("p2.xlarge", nil),
		instance("u-6tb1.metal", func(i *source.Instance) { i.Pricing = nil }),
		instance("m5.large", nil))
	delete(in.Limits, "p2.xlarge")
	delete(in.Limits, "m9i.large")
	assert.Equal(t, []string{
		"g7e.2xlarge: no source describes it and its name does not tell its shape",
		"m9i.large: its network interfaces are not known",
		"mac2.metal: architecture arm64_mac does not run Linux nodes",
		"p2.xlarge: its network interfaces are not known: EC2 no longer sells it",
		"u-6tb1.metal: no region is known to sell it at a price of its own",
	}, build(t, in).LeftOut)
}

func TestNetworkOfTypesWithoutLimits(t *testing.T) {
	in := input(nil, instance("u-9tb1.112xlarge", func(i *source.Instance) {
		i.VPC = &struct {
			Interfaces int64 `json:"max_enis"`
			Addresses  int64 `json:"ips_per_eni"`
		}{15, 50}
	}), instance("trn2.48xlarge", func(i *source.Instance) { i.GPUs = 1 }))
	clear(in.Limits)
	out := build(t, in)
	require.Len(t, out.Shapes.List, 2)
	trn2, u9 := out.Shapes.List[0], out.Shapes.List[1]
	assert.Equal(t, []int64{15, 50}, []int64{u9.Interfaces, u9.Addresses})
	assert.Equal(t, "nitro", u9.Hypervisor)
	assert.Equal(t, []int64{2, 50, 7600}, []int64{trn2.Interfaces, trn2.Addresses, trn2.LocalDiskGB})
	assert.Equal(t, facts.Accelerator{Resource: neuron, Maker: "aws", Name: "trainium2", Count: 16, Cores: 8}, trn2.Accelerator)
}

func TestAccelerators(t *testing.T) {
	for _, tt := range []struct {
		name, model string
		count       int64
		gib         float64
		want        facts.Accelerator
	}{
		{"m5.large", "", 0, 0, facts.Accelerator{}},
		{"g5.12xlarge", "NVIDIA A10G", 4, 96, facts.Accelerator{Resource: nvidiaGPU, Name: "a10g", Maker: "nvidia", Count: 4, MemoryMiB: 22888}},
		{"p3dn.24xlarge", "NVIDIA Tesla V100", 8, 256, facts.Accelerator{Resource: nvidiaGPU, Name: "v100", Maker: "nvidia", Count: 8, MemoryMiB: 32768}},
		{"p5en.48xlarge", "NVIDIA H200", 8, 1128, facts.Accelerator{Resource: nvidiaGPU, Name: "h200", Maker: "nvidia", Count: 8, MemoryMiB: 144384}},
		{"g4ad.xlarge", "AMD Radeon Pro V520", 1, 8, facts.Accelerator{Resource: amdGPU, Name: "radeon-pro-v520", Maker: "amd", Count: 1, MemoryMiB: 8192}},
		{"trn1.2xlarge", "AWS Inferentia", 1, 32, facts.Accelerator{Resource: neuron, Name: "trainium", Maker: "aws", Count: 1, Cores: 2}},
		{"inf1.6xlarge", "AWS Inferentia", 4, 0, facts.Accelerator{Resource: neuron, Name: "inferentia", Maker: "aws", Count: 4, Cores: 4}},
		{"inf2.48xlarge", "AWS Inferentia2", 12, 384, facts.Accelerator{Resource: neuron, Name: "inferentia2", Maker: "aws", Count: 12, Cores: 2}},
		{"dl1.24xlarge", "", 0, 0, facts.Accelerator{Resource: gaudi, Name: "gaudi-hl-205", Maker: "habana", Count: 8, MemoryMiB: 32768}},
	} {
		got, err := accelerator(source.Instance{Name: tt.name, GPUs: tt.count, GPUModel: tt.model, GPUMemoryGiB: tt.gib})
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, got, tt.name)
	}
	for _, i := range []source.Instance{
		{Name: "g9.large", GPUs: 1, GPUModel: "NVIDIA Z9"},
		{Name: "g9.large", GPUs: 0, GPUModel: "NVIDIA A10G"},
		{Name: "inf2.xlarge", GPUs: 0},
	} {
		_, err := accelerator(i)
		require.Error(t, err, i.Name)
	}
}

func TestBuildReportsWhatItDoesNotUnderstand(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*source.Instance)
		want   string
	}{
		{"GPU", func(i *source.Instance) { i.GPUs, i.GPUModel = 1, "NVIDIA Z9" }, `m5.large: GPU model "NVIDIA Z9" is not known`},
		{"processor", func(i *source.Instance) { i.Processor = "Zilog Z80" }, `processor "Zilog Z80"`},
		{"cores", func(i *source.Instance) { i.VCPU = 0 }, "m5.large: 0 vCPU"},
		{"price", func(i *source.Instance) { i.Pricing["us-east-1"] = linux("N/A", "") }, "region us-east-1: m5.large: price"},
		{"spot price", func(i *source.Instance) { i.Pricing["us-east-1"] = linux("1", "", "N/A") }, "region us-east-1: m5.large: price"},
		{"band", func(i *source.Instance) { i.Pricing["us-east-1"] = linux("1", "often", "0.1") }, `interruption band "often"`},
		{"zone", func(i *source.Instance) { i.Zones["us-east-1"] = []string{"us-east-1a"} }, `zone id "us-east-1a"`},
		{"zone number", func(i *source.Instance) { i.Zones["us-east-1"] = []string{"use1-az27"} }, `zone id "use1-az27"`},
		{"two zones with a number", func(i *source.Instance) { i.Zones["us-east-1"] = []string{"use1-az1", "usw1-az1"} }, "have the same number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Build(input(nil, instance("m5.large", tt.change)))
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := Build(input(nil, instance("m5.large", nil), instance("m5.large", nil)))
	require.ErrorContains(t, err, "m5.large: is described twice")
}

// The order of the source does not matter.
func TestBuildIsDeterministic(t *testing.T) {
	var list []source.Instance
	for _, name := range []string{"m5.large", "m8g.large", "c8g.large", "r8g.large", "m7i.large", "m5.metal"} {
		list = append(list, instance(name, nil))
	}
	list[2].Zones["us-east-1"] = []string{"use1-az4"}
	fresh := map[string]string{"m9g.large": "0.08", "c9g.large": "0.07", "m5.large": "0.09"}
	want := build(t, input(fresh, list...))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		require.Equal(t, want, build(t, input(fresh, list...)))
	}
}

func TestCorrections(t *testing.T) {
	for name, want := range map[string]facts.Shape{
		"m1.medium":          {MemoryMiB: 3788},
		"r3.large":           {MemoryMiB: 15360},
		"t1.micro":           {CPUMaker: "intel"},
		"p4de.24xlarge":      {EBSMbps: 19000, LocalDiskGB: 8000},
		"u7i-12tb.224xlarge": {EBSMbps: 100000},
		"hpc6id.32xlarge":    {EBSMbps: 2085, LocalDiskGB: 15200, Interfaces: 1, Addresses: 50, Hypervisor: "nitro"},
		"hpc7a.96xlarge":     {EBSMbps: 2085, Interfaces: 2, Addresses: 50, Hypervisor: "nitro"},
		"m5.large":           {},
	} {
		got := facts.Shape{Name: name}
		assert.Equal(t, want.Interfaces > 0, correct(&got), name)
		want.Name = name
		assert.Equal(t, want, got)
	}
	assert.False(t, ebsOptimizedByDefault("m3.xlarge"))
	assert.True(t, ebsOptimizedByDefault("m5.xlarge"))
}
