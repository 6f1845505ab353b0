package gcpdata

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/crosscheck"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func input() source.GCP {
	prices := func(hour string) map[string]source.MachinePrices {
		return map[string]source.MachinePrices{
			"mars-1":  {Hour: hour, Spot: "0.02", MonthOneYear: "43.8", MonthThreeYears: "999"},
			"venus-1": {Hour: hour},
		}
	}
	sold := func(cpus, memory int64, regions ...string) map[string]source.MachineShape {
		out := map[string]source.MachineShape{}
		for _, r := range regions {
			out[r] = source.MachineShape{CPUs: cpus, MemoryMiB: memory}
		}
		return out
	}
	return source.GCP{
		Types: []source.MachineType{
			{Name: "c4a-standard-1", Prices: prices("0.05")},
			{Name: "f1-micro", Prices: prices("0.01")},
			{Name: "g2-standard-4", Prices: prices("0.7"), GPU: "l4", GPUs: "1"},
			{Name: "g4-standard-6", Prices: prices("0.7"), GPU: "rtx6000", GPUs: "0.125"},
			{Name: "n2-standard-2", Prices: prices("0.1"), LocalGiB: 750},
			{Name: "n2-standard-4", Prices: prices("0.2")},
		},
		Sold: map[string]map[string]source.MachineShape{
			"c4a-standard-1": sold(1, 4096, "venus-1"), "f1-micro": sold(1, 614, "mars-1"), "g2-standard-4": sold(4, 16384, "mars-1"),
			"g4-standard-6": sold(6, 22528, "mars-1"), "n2-standard-2": sold(2, 8192, "mars-1", "pluto-1"),
		},
		Zones:       map[string]map[string]string{"n2-standard-2": {"mars-1": "dba"}},
		RegionZones: map[string]string{"mars-1": "abc"},
		Disks:       map[string][]string{"n2": {"pd-ssd"}},
		Compared:    map[string]map[string]map[string]json.Number{"mars-1": {"on_demand": {"n2-standard-2": "0.1005", "g2-standard-4": "0.71"}, "spot": {"n2-standard-2": "0.02"}}},
	}
}

func TestBuild(t *testing.T) {
	shapes, regions, leftOut, err := Build(input(), facts.Sources{})
	require.NoError(t, err)
	p := offerings.MustPrice
	assert.Equal(t, []facts.Shape{
		{Name: "c4a-standard-1", VCPU: 1, MemoryMiB: 4096, Arch: "arm64"},
		{Name: "g2-standard-4", VCPU: 4, MemoryMiB: 16384, Arch: "amd64", Accelerator: facts.Accelerator{Resource: "nvidia.com/gpu", Name: "nvidia-l4", Maker: "nvidia", Count: 1}},
		{Name: "n2-standard-2", VCPU: 2, MemoryMiB: 8192, Arch: "amd64", LocalDiskGiB: 750, LocalDisks: 2, DiskTypes: []string{"pd-ssd"}},
	}, shapes.List)
	zones := []facts.Zone{{Letter: 'a'}, {Letter: 'b'}, {Letter: 'c'}}
	assert.Equal(t, []facts.Region{
		{Name: "mars-1", Zones: zones, Rows: []facts.Row{
			{Type: "g2-standard-4", OnDemand: p("0.7"), OneYear: p("0.06"), Zones: "abc", Assumed: true, Spot: p("0.02")},
			{Type: "n2-standard-2", OnDemand: p("0.1"), OneYear: p("0.06"), Zones: "ab", Spot: p("0.02")},
		}},
		{Name: "venus-1", Zones: zones, Rows: []facts.Row{{Type: "c4a-standard-1", OnDemand: p("0.05"), Zones: "abc", Assumed: true}}},
	}, regions)
	require.Len(t, leftOut, 3)
	pairs, err := Compare(input(), regions)
	require.NoError(t, err)
	assert.Equal(t, []crosscheck.Pair{
		{Region: "mars-1", Type: "g2-standard-4", CapacityType: "on-demand", Ours: p("0.7"), Theirs: p("0.71")},
		{Region: "mars-1", Type: "n2-standard-2", CapacityType: "on-demand", Ours: p("0.1"), Theirs: p("0.1005")},
		{Region: "mars-1", Type: "n2-standard-2", CapacityType: "spot", Ours: p("0.02"), Theirs: p("0.02")},
	}, pairs)
}

func TestFaults(t *testing.T) {
	in := input()
	in.Types[2].GPU = "h9000"
	in.Types[4].Prices["mars-1"] = source.MachinePrices{Hour: "free"}
	in.Sold["c4a-standard-1"]["mars-1"] = source.MachineShape{CPUs: 2, MemoryMiB: 4096}
	_, _, _, err := Build(in, facts.Sources{})
	for _, want := range []string{`g2-standard-4: GPU "h9000" is not known`, "n2-standard-2 in mars-1: price", "c4a-standard-1: has 2 cores"} {
		require.ErrorContains(t, err, want)
	}
}
