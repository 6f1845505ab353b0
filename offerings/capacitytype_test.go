package offerings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseCapacityType(t *testing.T) {
	for _, want := range CapacityTypes() {
		got, err := ParseCapacityType(string(want))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	own, err := ParseCapacityType("colo")
	require.NoError(t, err)
	assert.Equal(t, CapacityType("colo"), own)
	for text, hint := range map[string]string{
		"on_demand": "did you mean on-demand?",
		"OnDemand":  "did you mean on-demand?",
		"on demand": "did you mean on-demand?",
		"Spot":      "did you mean spot?",
		"RESERVED":  "did you mean reserved?",
	} {
		_, err := ParseCapacityType(text)
		require.ErrorContains(t, err, hint, text)
	}
	for _, text := range []string{"", "Colo", "my colo", "-"} {
		_, err := ParseCapacityType(text)
		require.ErrorContains(t, err, "want reserved, spot, on-demand or a lower-case label value", text)
		assert.NotContains(t, err.Error(), "did you mean")
	}
}

func TestParseStrategy(t *testing.T) {
	for _, want := range Strategies() {
		got, err := ParseStrategy(string(want))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	got, err := ParseStrategy("")
	require.NoError(t, err)
	assert.Equal(t, LowestPrice, got)

	_, err = ParseStrategy("LowestPrice")
	require.ErrorContains(t, err, "did you mean lowest-price?")
	_, err = ParseStrategy("price_capacity_optimized")
	require.ErrorContains(t, err, "did you mean price-capacity-optimized?")
	_, err = ParseStrategy("random")
	require.EqualError(t, err, `strategy "random": want one of lowest-price, price-capacity-optimized, capacity-optimized, fewest-interruptions, diversified, prioritized`)
}
