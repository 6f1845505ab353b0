package instancetypes_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func kwokFile(tb testing.TB) *instancetypes.Catalog {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "kwok.json"))
	require.NoError(tb, err)
	c, err := instancetypes.ReadKWOK(bytes.NewReader(text))
	require.NoError(tb, err)
	return c
}

func TestReadKWOK(t *testing.T) {
	c := kwokFile(t)
	assert.Equal(t, []string{
		"c-4x-amd64-linux: on-demand@test-1a=0.1",
		"m5.large: on-demand@test-1a=0.096 spot@test-1a=0.0672 spot@test-1b=0.0672",
		"p3.8xlarge: on-demand@test-1a=3.2 reserved@test-1a/cr-7=0.0000001x3 on-demand@test-1b=3.2",
		"s-8x-windows: on-demand@test-1a=0.1",
		"standard_d4: on-demand@test-1c=0.192",
		"t4g.nano: on-demand@test-1a=0.0042",
	}, listing(c))

	for _, tc := range []struct {
		name, arch, os, size, family, cpu, memory, capacity string
	}{
		{"m5.large", "amd64", "linux", "large", "m5", "2", "8Gi", "cpu=2 ephemeral-storage=20Gi memory=8Gi pods=32"},
		{"t4g.nano", "arm64", "linux", "nano", "t4g", "2", "0", "cpu=2 memory=0 pods=32"},
		{"c-4x-amd64-linux", "amd64", "linux", "4", "c", "4", "8Gi", "cpu=4 memory=8Gi pods=110"},
		{"standard_d4", "amd64", "linux", "4", "s", "4", "16Gi", "cpu=4 memory=16Gi pods=110"},
		{"s-8x-windows", "amd64", "windows", "8", "s", "8", "8Gi", "cpu=8 memory=8Gi pods=110"},
		{"p3.8xlarge", "amd64", "linux", "8xlarge", "p3", "32", "244Gi", "cpu=32 memory=244Gi nvidia.com/gpu=4 pods=110"},
	} {
		it, ok := c.Get(tc.name)
		require.True(t, ok, tc.name)
		assert.Equal(t, map[string]string{
			corev1.LabelInstanceTypeStable:      tc.name,
			corev1.LabelArchStable:              tc.arch,
			corev1.LabelOSStable:                tc.os,
			"karpenter.kwok.sh/instance-size":   tc.size,
			"karpenter.kwok.sh/instance-family": tc.family,
			"karpenter.kwok.sh/instance-cpu":    tc.cpu,
			"karpenter.kwok.sh/instance-memory": tc.memory,
		}, it.Labels)
		assert.Equal(t, tc.capacity, amounts(it.Capacity), tc.name)
		assert.Equal(t, "cpu=100m memory=10Mi", amounts(it.Overhead.Total()), tc.name)
		for _, o := range it.Offerings {
			assert.False(t, o.Unavailable, "every offering is available, whatever the file says")
		}
	}
}

func TestReadKWOKKeepsFurtherLabels(t *testing.T) {
	c := kwokFile(t)
	p3, _ := c.Get("p3.8xlarge")
	for _, o := range p3.Offerings {
		switch o.CapacityType {
		case offerings.Reserved:
			assert.Equal(t, "cr-7", o.NodeLabels()[offerings.ReservationIDLabel])
			assert.NotContains(t, o.Labels, offerings.ReservationIDLabel)
		default:
			assert.Equal(t, map[string]string{"topology.k8s.aws/zone-id": "t1-az1"}, o.Labels)
		}
	}
}

func TestReadKWOKSaysWhatItLeftOut(t *testing.T) {
	statements := kwokFile(t).Provenance()
	require.Len(t, statements, 1)
	assert.Contains(t, statements[0].Covers, "1 linux/386, 1 windows/amd64")
	assert.Equal(t, []string{"overhead"}, statements[0].Estimated)
}

// entry makes one element of the array; parts in want of a comma.
func entry(name, arch, system, resources, offered string) string {
	return `{"name":"` + name + `","architecture":"` + arch + `","operatingSystems":["` + system + `"],"resources":{` + resources + `},"offerings":[` + offered + `]}`
}

func kwokOffering(price, kind, zone string) string {
	return `{"Price":` + price + `,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["` + kind +
		`"]},{"key":"topology.kubernetes.io/zone","operator":"In","values":["` + zone + `"]}]}`
}

const kwokShape = `"cpu":"1","memory":"1Gi"`

func TestReadKWOKRepeatedNames(t *testing.T) {
	a, b := kwokOffering("0.1", "spot", "a"), kwokOffering("0.2", "spot", "b")
	linux, windows := entry("m", "amd64", "linux", kwokShape, a), entry("m", "amd64", "windows", kwokShape, b)
	arm, old := entry("m", "arm64", "linux", kwokShape, b), entry("m", "i386", "linux", kwokShape, b)
	for _, tc := range []struct {
		name, want string
		entries    []string
	}{
		{"linux first", "m: spot@a=0.1", []string{linux, windows}},
		{"windows first", "m: spot@a=0.1", []string{windows, linux}},
		{"windows alone", "m: spot@b=0.2", []string{windows}},
		{"amd64 before arm64", "m: spot@a=0.1", []string{arm, linux}},
		{"arm64 before 386", "m: spot@b=0.2", []string{old, arm}},
		{"other names of architectures", "m: spot@b=0.2", []string{entry("m", "aarch64", "linux", kwokShape, b), entry("m", "riscv64", "linux", kwokShape, a)}},
		{"linux on arm64 before windows on amd64", "m: spot@b=0.2", []string{windows, arm}},
		{"the same machine in two entries", "m: spot@a=0.1 spot@b=0.2", []string{linux, entry("m", "x86_64", "linux", kwokShape, b)}},
		{"the same entry twice", "m: spot@a=0.1", []string{linux, linux}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.ReadKWOK(strings.NewReader("[" + strings.Join(tc.entries, ",\n") + "]"))
			require.NoError(t, err)
			assert.Equal(t, []string{tc.want}, listing(c))
		})
	}
}

func TestReadKWOKFaults(t *testing.T) {
	good := entry("m", "amd64", "linux", kwokShape, kwokOffering("0.1", "spot", "a"))
	offered := func(o string) string { return "[" + entry("m", "amd64", "linux", kwokShape, o) + "]" }
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"line 1, column 1: the file ends too early"}},
		{"our own format", `{"instanceTypes":[]}`, []string{"line 1, column 1: must be an array of instance types, not an object"}},
		{"an empty array", "[]", []string{"the catalog is empty"}},
		{"cut off", "[" + good, []string{"the file ends too early"}},
		{"something after", "[" + good + "] x", []string{"something follows the end of the array"}},
		{"not JSON", "[" + good + ",]", []string{"is not JSON"}},
		{"wrong kind", "[\n{\"name\":7},\n" + good + "]", []string{"line 2, column 10: name: must not be number"}},
		{"no name", "[" + entry("", "amd64", "linux", kwokShape, "") + "]", []string{"name: must not be empty"}},
		{"no memory", "[\n" + entry("m", "amd64", "linux", `"cpu":"1"`, "") + "]", []string{"line 2, column 1: instance type m: capacity.memory: is missing"}},
		{"bad quantity", "[" + entry("m", "amd64", "linux", `"cpu":"x","memory":"1e999999999"`, "") + "]", []string{
			`capacity.cpu: "x": is not a quantity`, `capacity.memory: "1e999999999": is too long for a quantity`,
		}},
		{"quantity of the wrong kind", "[" + entry("m", "amd64", "linux", `"cpu":["x"],"memory":"1Gi"`, "") + "]", []string{`capacity.cpu: "[\"x\"]": is not a quantity`}},
		{"negative price", offered(kwokOffering("-1", "spot", "a")), []string{`offerings[0].Price: "-1": must not be negative`}},
		{"no price", offered(`{"zone":"a","capacityType":"spot"}`), []string{"offerings[0].Price: is missing"}},
		{"no place", offered(`{"Price":1}`), []string{"must say which zone", "must say which capacity type"}},
		{"vague place", offered(`{"Price":1,"capacityType":"spot","Requirements":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["a"]}]}`), []string{
			`offerings[0].Requirements[0]: "topology.kubernetes.io/zone NotIn": must be In with a value`, "must say which zone",
		}},
		{"vague label", offered(`{"Price":1,"capacityType":"spot","zone":"a","Requirements":[{"key":"x","operator":"In","values":["a","b"]}]}`), []string{
			"must have a single value, since a node has one",
		}},
		{"unknown capacity type", offered(kwokOffering("1", "CHEAP", "a")), []string{"offerings[0].capacityType"}},
		{"reserved without id", offered(kwokOffering("1", "reserved", "a")), []string{"offerings[0].reservationID"}},
		{"other resources under the same name", "[" + good + ",\n" + entry("m", "amd64", "linux", `"cpu":"2","memory":"1Gi"`, "") + "]", []string{
			"line 2, column 1: instance type m: resources: differ from those of the entry of the same name in line 1",
		}},
		{"another resource under the same name", "[" + good + ",\n" + entry("m", "amd64", "linux", kwokShape+`,"pods":"9"`, "") + "]", []string{"resources: differ"}},
		{"another price under the same name", "[" + good + ",\n" + entry("m", "amd64", "linux", kwokShape, kwokOffering("0.3", "spot", "a")) + "]", []string{
			`line 2, column 1: instance type m: offerings: "a spot": costs 0.3 here and 0.1 in the entry of the same name in line 1`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.ReadKWOK(strings.NewReader(tc.text))
			require.Error(t, err)
			assert.Nil(t, c)
			assert.True(t, strings.HasPrefix(err.Error(), "reading KWOK instance types: "), err)
			got := lines(err)
			require.Len(t, got, len(tc.want), "%q", got)
			for i, want := range tc.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
}

// karpenterFile returns a file of Karpenter's module, and skips the test where the module is not on this machine. Tests
// of files of this repository cover the same rules.
func karpenterFile(t *testing.T, path ...string) []byte {
	t.Helper()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	module := filepath.Join(home, "go", "pkg", "mod", "sigs.k8s.io", "karpenter@v1.14.1", "kwok")
	text, err := os.ReadFile(filepath.Join(append([]string{module}, path...)...))
	if err != nil {
		t.Skip("sigs.k8s.io/karpenter@v1.14.1 is not in the module cache")
	}
	return text
}

func TestReadKWOKOfKarpenter(t *testing.T) {
	text := karpenterFile(t, "examples", "aws_instance_types.json")
	c, err := instancetypes.ReadKWOK(bytes.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, 853, c.Len())
	o, ok := c.Lookup(offerings.Key{InstanceType: "t3.nano", Zone: "us-west-2a", CapacityType: offerings.OnDemand})
	require.True(t, ok)
	assert.Equal(t, "0.0052", o.Price.String())

	// Every entry for linux on a current architecture, read in the plainest way.
	var entries []map[string]any
	require.NoError(t, json.Unmarshal(text, &entries))
	compared := 0
	for _, e := range entries {
		arch := map[string]string{"x86_64": "amd64", "arm64": "arm64"}[e["architecture"].(string)]
		if e["operatingSystems"].([]any)[0] != "linux" || arch == "" {
			continue
		}
		compared++
		it, ok := c.Get(e["name"].(string))
		require.True(t, ok, e["name"])
		assert.Equal(t, arch, it.Labels[corev1.LabelArchStable], it.Name)
		assert.Equal(t, "linux", it.Labels[corev1.LabelOSStable], it.Name)
		for name, amount := range e["resources"].(map[string]any) {
			q := it.Capacity[corev1.ResourceName(name)]
			assert.Zero(t, q.Cmp(resource.MustParse(amount.(string))), "%s of %s", name, it.Name)
		}
		require.Len(t, it.Offerings, len(e["offerings"].([]any)), it.Name)
		for _, offered := range e["offerings"].([]any) {
			place := map[string]string{}
			for _, r := range offered.(map[string]any)["Requirements"].([]any) {
				place[r.(map[string]any)["key"].(string)] = r.(map[string]any)["values"].([]any)[0].(string)
			}
			o, ok := c.Lookup(offerings.Key{InstanceType: it.Name, Zone: place[corev1.LabelTopologyZone], CapacityType: offerings.CapacityType(place[offerings.CapacityTypeLabel])})
			require.True(t, ok, "%s %v", it.Name, place)
			assert.InDelta(t, offered.(map[string]any)["Price"].(float64), o.Price.USD(), 1e-9, it.Name)
		}
	}
	assert.Equal(t, 853, compared)
}

func TestReadKWOKOfKarpentersDefaults(t *testing.T) {
	c, err := instancetypes.ReadKWOK(bytes.NewReader(karpenterFile(t, "cloudprovider", "instance_types.json")))
	require.NoError(t, err)
	assert.Equal(t, 144, c.Len())
	windows, ok := c.Get("m-256x-arm64-windows")
	require.True(t, ok)
	assert.Equal(t, "windows", windows.Labels[corev1.LabelOSStable])
	assert.Equal(t, "m", windows.Labels["karpenter.kwok.sh/instance-family"])
	assert.Equal(t, "256", windows.Labels["karpenter.kwok.sh/instance-size"])
}

func TestReadKWOKOfTheFormerFormat(t *testing.T) {
	c, err := instancetypes.ReadKWOK(bytes.NewReader(karpenterFile(t, "examples", "instance_types.json")))
	require.NoError(t, err)
	assert.Equal(t, []string{"g5.4xlarge: on-demand@us-east-1a=1.624 on-demand@us-east-1b=1.7 on-demand@us-east-1c=1.525"}, listing(c))
}

func FuzzReadKWOK(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "kwok.json"))
	require.NoError(f, err)
	fuzzReader(f, []string{
		string(text),
		"", "[]", "[{}]", `[{"name":"m"},null]`, "[[[[", `[{"name":"m","resources":{"cpu":1,"memory":1e3}}]`,
		"[" + entry("m", "amd64", "linux", kwokShape, kwokOffering("1e-9", "spot", "a")) + "]",
		"[" + entry("m", "i386", "linux", kwokShape, "") + "," + entry("m", "amd64", "windows", kwokShape, "") + "]",
	}, instancetypes.ReadKWOK, (*instancetypes.Catalog).WriteJSON, instancetypes.ReadJSON)
}
