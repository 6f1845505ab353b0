package azurefacts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func sample() azurefacts.Region {
	return azurefacts.Region{
		Name: "eastus", Zones: 3, Module: "example.com/m@v1", Date: "2025-05-28",
		Sizes: []azurefacts.Size{
			{
				Name: "Standard_D8as_v5", VCPU: 8, MemoryMiB: 32768, Arch: "amd64", PremiumDisks: "true", AcceleratedNetworking: "true",
				OnDemand: offerings.MustPrice("0.344"), Spot: offerings.MustPrice("0.051497"),
			},
			{
				Name: "Standard_NC6s_v3", VCPU: 6, MemoryMiB: 114688, Arch: "amd64", GPUMaker: "nvidia", GPUName: "V100", GPUs: 1,
				PremiumDisks: "false", OnDemand: offerings.MustPrice("3.06"),
			},
		},
	}
}

func TestRegionSurvivesTheRoundTrip(t *testing.T) {
	want, got := sample(), azurefacts.Region{}
	data, err := embedded.Encode(&want)
	require.NoError(t, err)
	require.NoError(t, embedded.Decode(data, &got))
	assert.Equal(t, want, got)
}

func TestRegionsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(*azurefacts.Region)
		want   string
	}{
		{"no name", func(g *azurefacts.Region) { g.Name = "" }, "the name is empty"},
		{"zones", func(g *azurefacts.Region) { g.Zones = 10 }, "10 zones: want 0 to 9"},
		{"negative zones", func(g *azurefacts.Region) { g.Zones = -1 }, "-1 zones"},
		{"no size name", func(g *azurefacts.Region) { g.Sizes[0].Name = "" }, `row 0: name ""`},
		{"order", func(g *azurefacts.Region) { g.Sizes[1].Name = "Standard_D8as_v5" }, `row 1: name "Standard_D8as_v5"`},
		{"free", func(g *azurefacts.Region) { g.Sizes[0].OnDemand = 0 }, "prices 0 on demand"},
		{"negative spot", func(g *azurefacts.Region) { g.Sizes[0].Spot = -1 }, "spot: want"},
		{"flag", func(g *azurefacts.Region) { g.Sizes[0].PremiumDisks = "yes" }, `"yes": want true, false or nothing`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := sample()
			tt.damage(&g)
			require.ErrorContains(t, g.Validate(), tt.want)
		})
	}
}
