package disruption

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// All nodes of a set go at once, in moves that each save something.
func TestWhole(t *testing.T) {
	x := wornSearch(t, 12, "100%")
	leave := x.sifted()[0]
	y := x.scratch()
	require.NoError(t, y.whole(t.Context(), leave))
	assert.Equal(t, leave, y.gone(x))
	assert.Greater(t, len(y.moves), 1)
	for _, m := range y.moves {
		assert.Positive(t, m.SavingPerHour)
	}
	assert.Less(t, y.price(), x.price())
}

// Nothing is done where nothing can be, or there is no time.
func TestWholeOfNothing(t *testing.T) {
	x := wornSearch(t, 4, "100%")
	y := x.scratch()
	require.NoError(t, y.whole(t.Context(), nil))
	require.NoError(t, y.whole(t.Context(), []string{"n9"}))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, y.whole(gone, []string{"n000"}))
	assert.Empty(t, y.moves)
	x.settled["n000"], x.settled["n001"], x.settled["n002"], x.settled["n003"] = true, true, true, true
	best, err := x.wholly(t.Context())
	require.NoError(t, err)
	assert.Empty(t, best.moves, "what has to stay stays")
}

// Where budgets let few nodes go at once, a search that moves fewer pods is taken for better
// although it saves a little less.
func TestToll(t *testing.T) {
	for budget, rate := range map[string]float64{"100%": pains, "25%": mostlyKept} {
		x := wornSearch(t, 8, budget)
		assert.InDelta(t, float64(x.price()), x.toll(x), 1e-6, "nothing is disrupted")
		y := x.scratch()
		require.NoError(t, y.deleteEach(t.Context(), y.order()))
		require.NotEmpty(t, y.moves)
		cost := 0.0
		for _, s := range x.frame.subjects {
			cost += s.cost
		}
		assert.InDelta(t, float64(y.price())+rate*float64(x.price())*y.disrupted()/cost, x.toll(y), 1, budget)
	}
}
