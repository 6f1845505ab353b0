package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixing is the bound that [assignment.mixed] comes to.
func mixing(m Market, work int64, late func() bool) Assigned {
	a := prepare(&m, late)
	if a == nil {
		return Assigned{Scale: Scale}
	}
	a.search(Resource(m.input()).Values, Effort{Work: enough})
	a.mixed(work, math.Inf(1))
	return a.certify()
}

// unlimited is a random market with a machine beside that holds a hundred pods.
func unlimited(rng *rand.Rand) Market {
	m := randomMarket(rng)
	m.Supplies = nil
	if len(m.Options) > 0 && rng.IntN(2) == 0 {
		large := m.Options[rng.IntN(len(m.Options))]
		large.Cap = append([]int64(nil), large.Cap...)
		for d := range large.Cap {
			large.Cap[d] *= 100
		}
		large.Price *= 60 + rng.Int64N(60)
		m.Options = append(m.Options, large)
	}
	return m
}

// No way to place the pods is cheaper than the bound, the bound is proven, and it is no
// worse than that of the assignment.
func TestMixedAgainstTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(67, 1))
	solvable, better, filled := 0, 0, 0
	for range 1000 {
		m := unlimited(rng)
		best, ok := cheapest(m)
		if !ok {
			continue
		}
		before := Assignment(m, Resource(m.input()).Values, enough, nil)
		r := mixing(m, enough, nil)
		require.GreaterOrEqual(t, r.Bound, before.Bound, "%+v", m)
		if r.Bound == 0 {
			continue
		}
		solvable++
		proven(t, m, r, best)
		if r.Bound > before.Bound+before.Bound/100 {
			better++
		}
		if r.Filled {
			filled++
		}
	}
	t.Logf("%d bounds, %d beat those of assignments, %d take fillings to prove", solvable, better, filled)
	assert.Greater(t, solvable, 400)
	assert.Greater(t, better, solvable/20)
	assert.GreaterOrEqual(t, filled, better)
}

// A small machine holds two pods of either of the sizes that fit it, whatever is left over; a
// large one is full.
func TestMixedSmallAndLarge(t *testing.T) {
	m := Market{
		Dims: 1, Classes: []Class{{Size: []int64{34}, Count: 100}, {Size: []int64{45}, Count: 100}, {Size: []int64{101}, Count: 300}},
		Options: []Choice{
			{Cap: []int64{100}, Price: usd, Users: row(true, true, true)},
			{Cap: []int64{10_000}, Price: 150 * usd, Users: row(true, true, true)},
		},
	}
	before := Assignment(m, Resource(m.input()).Values, enough, nil)
	r := mixing(m, enough, nil)
	assert.InEpsilon(t, 79*usd+303*150*usd/100, before.Bound, 1e-2)
	assert.InEpsilon(t, 100*usd+303*150*usd/100, r.Bound, 1e-3)
	bound, ok := proves(m, r)
	require.True(t, ok)
	assert.GreaterOrEqual(t, bound.Int64(), r.Bound)
}

// It stops where it is told to, at something that is proven, and does the same again.
func TestMixedStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(67, 2))
	for range 60 {
		m := unlimited(rng)
		start := Resource(m.input())
		before := Assignment(m, start.Values, enough, nil)
		require.Equal(t, before.Bound, mixing(m, 0, nil).Bound)
		for limit := 1; limit < 1<<12; limit *= 8 {
			calls := 0
			if r := mixing(m, enough, func() bool { calls++; return calls > limit }); r.Bound > 0 {
				bound, ok := proves(m, r)
				require.True(t, ok)
				require.Equal(t, r.Bound, bound.Int64())
			}
		}
		repeats(t, func() Assigned { return mixing(m, 1_000_000, nil) })
	}
}
