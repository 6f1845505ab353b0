package ec2facts_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func price(s string) offerings.Price { return offerings.MustPrice(s) }

func sampleShapes() ec2facts.Shapes {
	return ec2facts.Shapes{
		Sources: ec2facts.Sources{
			Instances: ec2facts.Source{Module: "example.com/instances@v1", Date: "2025-05-28"},
			Limits:    ec2facts.Source{Module: "example.com/limits@v2", Date: "2026-09-02"},
			Bandwidth: ec2facts.Source{Module: "example.com/bandwidth@v3", Date: "2026-08-20"},
		},
		List: []ec2facts.Shape{
			{
				Name: "g5.12xlarge", VCPU: 48, MemoryMiB: 196608, Arch: "amd64", CPUMaker: "amd", Hypervisor: "nitro",
				Interfaces: 15, Addresses: 50, BranchInterfaces: 107, NetworkMbps: 40000, EBSMbps: 16000, LocalDiskGB: 3800,
				Accelerator: ec2facts.Accelerator{Resource: "nvidia.com/gpu", Name: "a10g", Maker: "nvidia", Count: 4, MemoryMiB: 22888},
			},
			{Name: "m9g.medium", VCPU: 1, MemoryMiB: 4096, Arch: "arm64", CPUMaker: "aws", Interfaces: 2, Addresses: 4, Derived: true},
			{
				Name: "trn1.2xlarge", VCPU: 8, MemoryMiB: 32768, Arch: "amd64", Interfaces: 4, Addresses: 15,
				Accelerator: ec2facts.Accelerator{Resource: "aws.amazon.com/neuron", Name: "trainium", Maker: "aws", Count: 1, Cores: 2},
			},
		},
	}
}

func sampleRegion() ec2facts.Region {
	return ec2facts.Region{
		Name:      "us-east-1",
		Zones:     []ec2facts.Zone{{Letter: 'a', ID: "use1-az1"}, {Letter: 'b', ID: "use1-az2"}, {Letter: 'd', ID: "use1-az4"}},
		FreshDate: "2026-07-06",
		Rows: []ec2facts.Row{
			{Type: "g5.12xlarge", OnDemand: price("5.672"), Zones: "abd", Spot: []offerings.Price{price("1.5"), price("1.5001")}, Band: 5},
			{Type: "m8i.metal-48xl", OnDemand: price("10.16064"), List: ec2facts.DedicatedList, Zones: "ad", Assumed: true},
			{Type: "m9g.medium", OnDemand: price("0.0408"), List: ec2facts.FresherList, Zones: "b"},
		},
	}
}

func TestShapesSurviveTheRoundTrip(t *testing.T) {
	table, err := sampleShapes().Table()
	require.NoError(t, err)
	data, err := table.Encode()
	require.NoError(t, err)
	table, err = compact.Decode(data)
	require.NoError(t, err)
	got, err := ec2facts.ReadShapes(table)
	require.NoError(t, err)
	assert.Equal(t, sampleShapes(), got)
}

func TestRegionSurvivesTheRoundTrip(t *testing.T) {
	table, err := sampleRegion().Table()
	require.NoError(t, err)
	unit, _ := table.Fact("spotunit")
	assert.Equal(t, "0.0001", unit, "the largest unit in which spot prices are whole")
	spot, _ := table.Column("spot")
	assert.Equal(t, []string{"15000 1", "", ""}, spot)
	zones, _ := table.Fact("zones")
	assert.Equal(t, "ause1-az1 buse1-az2 duse1-az4", zones)

	got, err := ec2facts.ReadRegion(table)
	require.NoError(t, err)
	assert.Equal(t, sampleRegion(), got)
}

// Prices of any precision come back exactly.
func TestRandomRegionsSurviveTheRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 200 {
		digits := offerings.Price(1)
		for range rng.IntN(10) {
			digits *= 10
		}
		want := ec2facts.Region{Name: "r", Rows: []ec2facts.Row{}}
		letters := ""
		for l := byte('a'); l < byte('a'+1+rng.IntN(6)); l++ {
			want.Zones = append(want.Zones, ec2facts.Zone{Letter: l})
			letters += string(l)
		}
		for i := range rng.IntN(20) {
			row := ec2facts.Row{Type: fmt.Sprintf("t%02d", i), OnDemand: digits * offerings.Price(1+rng.IntN(1_000_000)), Zones: letters}
			last := offerings.Price(0)
			for range rng.IntN(len(letters) + 1) {
				last += digits * offerings.Price(rng.IntN(1000)+1)
				row.Spot = append(row.Spot, last)
			}
			if len(row.Spot) > 0 {
				row.Band = ec2facts.Band(rng.IntN(6))
			}
			want.Rows = append(want.Rows, row)
		}
		table, err := want.Table()
		require.NoError(t, err)
		got, err := ec2facts.ReadRegion(table)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestRegionsAreCheckedOnBothWays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(*ec2facts.Region)
		want   string
	}{
		{"no name", func(g *ec2facts.Region) { g.Name = "" }, "the name is empty"},
		{"zone letter", func(g *ec2facts.Region) { g.Zones[0].Letter = 'A' }, `zone 'A': want letters`},
		{"zone twice", func(g *ec2facts.Region) { g.Zones[1].Letter = 'a' }, `zone 'a': want letters`},
		{"types out of order", func(g *ec2facts.Region) { g.Rows[2].Type = "a1.large" }, `name "a1.large" does not come after "m8i.metal-48xl"`},
		{"type twice", func(g *ec2facts.Region) { g.Rows[1].Type = "g5.12xlarge" }, "does not come after"},
		{"no type", func(g *ec2facts.Region) { g.Rows[0].Type = "" }, "row 0: the name is empty"},
		{"free", func(g *ec2facts.Region) { g.Rows[0].OnDemand = 0 }, "g5.12xlarge: on-demand price 0: want more than 0"},
		{"list", func(g *ec2facts.Region) { g.Rows[0].List = "x" }, `price list "x" is not known`},
		{"no zone", func(g *ec2facts.Region) { g.Rows[0].Zones, g.Rows[0].Spot, g.Rows[0].Band = "", nil, 0 }, "is sold in no zone"},
		{"strange zone", func(g *ec2facts.Region) { g.Rows[0].Zones = "abc" }, `zones "abc"`},
		{"zone order", func(g *ec2facts.Region) { g.Rows[0].Zones = "ba" }, `zones "ba"`},
		{"band", func(g *ec2facts.Region) { g.Rows[0].Band = 6 }, "interruption band 6"},
		{"band without spot", func(g *ec2facts.Region) { g.Rows[2].Band = 1 }, "interruption band 1"},
		{"free spot", func(g *ec2facts.Region) { g.Rows[0].Spot[0] = 0 }, "want prices above 0 that ascend"},
		{"too many spot prices", func(g *ec2facts.Region) { g.Rows[2].Spot = []offerings.Price{1, 2} }, "2 spot prices: want at most one for each zone"},
		{"spot in assumed zones", func(g *ec2facts.Region) { g.Rows[1].Spot = []offerings.Price{1} }, "none where zones are a guess"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := sampleRegion()
			tt.damage(&g)
			_, err := g.Table()
			require.ErrorContains(t, err, tt.want)
		})
	}
	g := sampleRegion()
	g.Rows[0].Spot = []offerings.Price{2, 1}
	_, err := g.Table()
	require.ErrorContains(t, err, "that ascend")
	s := sampleShapes()
	s.List[0], s.List[1] = s.List[1], s.List[0]
	_, err = s.Table()
	require.ErrorContains(t, err, "does not come after")
}

func TestReadersReportWhatIsMissing(t *testing.T) {
	_, err := ec2facts.ReadShapes(&compact.Table{})
	require.ErrorContains(t, err, `instance shapes: column "name": is missing`)
	_, err = ec2facts.ReadRegion(&compact.Table{})
	require.ErrorContains(t, err, `region prices: fact "region": is missing`)

	replace := func(column, fact, with string) error {
		table, err := sampleRegion().Table()
		require.NoError(t, err)
		for i := range table.Facts {
			if table.Facts[i].Key == fact {
				table.Facts[i].Value = with
			}
		}
		if cells, ok := table.Column(column); ok {
			cells[0] = with
		}
		_, err = ec2facts.ReadRegion(table)
		return err
	}
	require.ErrorContains(t, replace("", "spotunit", "1e"), "region us-east-1: spotunit:")
	require.ErrorContains(t, replace("", "spotunit", "0"), "want prices above 0")
	require.ErrorContains(t, replace("ondemand", "", "free"), "region us-east-1: g5.12xlarge: price")
	require.ErrorContains(t, replace("spot", "", "9223372036854775807"), "is too large")
	require.ErrorContains(t, replace("band", "", "9223372036854775807"), "interruption band 6")
	require.ErrorContains(t, replace("assumed", "", "x"), `column "assumed", row 0`)
}

func TestBands(t *testing.T) {
	for text, rate := range map[string]float64{"<5%": 0.025, "5-10%": 0.075, "10-15%": 0.125, "15-20%": 0.175, ">20%": 0.25} {
		band, err := ec2facts.ParseBand(text)
		require.NoError(t, err)
		assert.InDelta(t, rate, band.Rate(), 1e-12, text)
	}
	_, err := ec2facts.ParseBand("20%")
	require.ErrorContains(t, err, `interruption band "20%"`)
	assert.Zero(t, ec2facts.Band(0).Rate())
	assert.Zero(t, ec2facts.Band(-1).Rate())
	assert.InDelta(t, 0.25, ec2facts.Band(99).Rate(), 1e-12)
}

func TestIsMetal(t *testing.T) {
	for name, want := range map[string]bool{
		"m5.metal": true, "m7i.metal-24xl": true, "m5.large": false, "metal.large": false, "metal": false, "m5.metallic": false, "": false,
	} {
		assert.Equal(t, want, ec2facts.IsMetal(name), name)
	}
}

func FuzzRead(f *testing.F) {
	for _, from := range []interface {
		Table() (*compact.Table, error)
	}{sampleShapes(), sampleRegion()} {
		table, err := from.Table()
		require.NoError(f, err)
		text, err := table.Text()
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := compact.Parse(text)
		if err != nil {
			return
		}
		if shapes, err := ec2facts.ReadShapes(table); err == nil {
			again, err := shapes.Table()
			require.NoError(t, err)
			same, err := ec2facts.ReadShapes(again)
			require.NoError(t, err)
			require.Equal(t, shapes, same)
		}
		if region, err := ec2facts.ReadRegion(table); err == nil {
			again, err := region.Table()
			require.NoError(t, err)
			same, err := ec2facts.ReadRegion(again)
			require.NoError(t, err)
			require.Equal(t, region, same)
		}
	})
}
