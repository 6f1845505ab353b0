package facts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func price(s string) offerings.Price { return offerings.MustPrice(s) }

func sampleShapes() facts.Shapes {
	return facts.Shapes{
		Sources: facts.Sources{
			Instances: facts.Source{Module: "example.com/instances@v1", Date: "2025-05-28"},
			Limits:    facts.Source{Module: "example.com/limits@v2", Date: "2026-09-02"},
			Bandwidth: facts.Source{Module: "example.com/bandwidth@v3", Date: "2026-08-20"},
		},
		List: []facts.Shape{
			{
				Name: "g5.12xlarge", VCPU: 48, MemoryMiB: 196608, Arch: "amd64", CPUMaker: "amd", Hypervisor: "nitro",
				Interfaces: 15, Addresses: 50, BranchInterfaces: 107, NetworkMbps: 40000, EBSMbps: 16000, LocalDiskGB: 3800,
				Accelerator: facts.Accelerator{Resource: "nvidia.com/gpu", Name: "a10g", Maker: "nvidia", Count: 4, MemoryMiB: 22888},
			},
			{Name: "m9g.medium", VCPU: 1, MemoryMiB: 4096, Arch: "arm64", CPUMaker: "aws", Interfaces: 2, Addresses: 4, Derived: true},
			{
				Name: "trn1.2xlarge", VCPU: 8, MemoryMiB: 32768, Arch: "amd64", Interfaces: 4, Addresses: 15,
				Accelerator: facts.Accelerator{Resource: "aws.amazon.com/neuron", Name: "trainium", Maker: "aws", Count: 1, Cores: 2},
			},
		},
	}
}

func sampleRegion() facts.Region {
	return facts.Region{
		Name:      "us-east-1",
		Zones:     []facts.Zone{{Letter: 'a', ID: "use1-az1"}, {Letter: 'b', ID: "use1-az2"}, {Letter: 'd', ID: "use1-az4"}},
		FreshDate: "2026-07-06",
		Rows: []facts.Row{
			{Type: "g5.12xlarge", OnDemand: price("5.672"), Zones: "abd", Spot: price("1.5"), Band: 5},
			{Type: "m8i.metal-48xl", OnDemand: price("10.16064"), List: facts.DedicatedList, Zones: "ad", Assumed: true},
			{Type: "m9g.medium", OnDemand: price("0.0408"), List: facts.FresherList, Zones: "b"},
		},
	}
}

func TestFactsSurviveTheRoundTrip(t *testing.T) {
	region, shapes := sampleRegion(), sampleShapes()
	data, err := embedded.Encode(&region)
	require.NoError(t, err)
	var gotRegion facts.Region
	require.NoError(t, embedded.Decode(data, &gotRegion))
	assert.Equal(t, region, gotRegion)

	data, err = embedded.Encode(&shapes)
	require.NoError(t, err)
	var gotShapes facts.Shapes
	require.NoError(t, embedded.Decode(data, &gotShapes))
	assert.Equal(t, shapes, gotShapes)
}

func TestRegionsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(*facts.Region)
		want   string
	}{
		{"no name", func(g *facts.Region) { g.Name = "" }, "the name is empty"},
		{"zone letter", func(g *facts.Region) { g.Zones[0].Letter = 'A' }, `zone 'A': want letters`},
		{"zone twice", func(g *facts.Region) { g.Zones[1].Letter = 'a' }, `zone 'a': want letters`},
		{"types out of order", func(g *facts.Region) { g.Rows[2].Type = "a1.large" }, `name "a1.large" does not come after "m8i.metal-48xl"`},
		{"type twice", func(g *facts.Region) { g.Rows[1].Type = "g5.12xlarge" }, "does not come after"},
		{"no type", func(g *facts.Region) { g.Rows[0].Type = "" }, "row 0: the name is empty"},
		{"free", func(g *facts.Region) { g.Rows[0].OnDemand = 0 }, "g5.12xlarge: prices 0 on demand"},
		{"list", func(g *facts.Region) { g.Rows[0].List = "x" }, `price list "x" is not known`},
		{"no zone", func(g *facts.Region) { g.Rows[0].Zones, g.Rows[0].Spot, g.Rows[0].Band = "", 0, 0 }, "is sold in no zone"},
		{"strange zone", func(g *facts.Region) { g.Rows[0].Zones = "abc" }, `zones "abc"`},
		{"zone order", func(g *facts.Region) { g.Rows[0].Zones = "ba" }, `zones "ba"`},
		{"band", func(g *facts.Region) { g.Rows[0].Band = 6 }, "interruption band 6"},
		{"band without spot", func(g *facts.Region) { g.Rows[2].Band = 1 }, "interruption band 1"},
		{"negative spot", func(g *facts.Region) { g.Rows[2].Spot = -1 }, "m9g.medium: prices 0.0408 on demand"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := sampleRegion()
			tt.damage(&g)
			require.ErrorContains(t, g.Validate(), tt.want)
		})
	}
	s := sampleShapes()
	s.List[0], s.List[1] = s.List[1], s.List[0]
	require.ErrorContains(t, s.Validate(), "does not come after")
}

func TestBands(t *testing.T) {
	for text, rate := range map[string]float64{"<5%": 0.025, "5-10%": 0.075, "10-15%": 0.125, "15-20%": 0.175, ">20%": 0.25} {
		band, err := facts.ParseBand(text)
		require.NoError(t, err)
		assert.InDelta(t, rate, band.Rate(), 1e-12, text)
	}
	_, err := facts.ParseBand("20%")
	require.ErrorContains(t, err, `interruption band "20%"`)
	assert.Zero(t, facts.Band(0).Rate())
	assert.Zero(t, facts.Band(-1).Rate())
	assert.InDelta(t, 0.25, facts.Band(99).Rate(), 1e-12)
}

func TestIsMetal(t *testing.T) {
	for name, want := range map[string]bool{
		"m5.metal": true, "m7i.metal-24xl": true, "m5.large": false, "metal.large": false, "metal": false, "m5.metallic": false, "": false,
	} {
		assert.Equal(t, want, facts.IsMetal(name), name)
	}
}
