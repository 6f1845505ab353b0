package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Merging loses no pod, mixes no classes that may use different machines, and changes
// what all ask for together by no more than rounding.
func TestCoarse(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 1))
	merges := 0
	for range 30 {
		m := largeMarket(rng, 400, 30)
		a := newAssignment(&m)
		first := a.starting(Resource(m.input()).Values)
		c, merged := a.coarse(&first, shareSteps, nil)
		if c == nil {
			continue
		}
		merges++
		require.Less(t, len(c.demand), len(a.demand))
		pods := make([]int64, len(c.demand))
		asked, want := make([]float64, m.Dims), make([]float64, m.Dims)
		for i := range m.Classes {
			pods[merged[i]] += m.Classes[i].Count
			for d, n := range m.Classes[i].Size {
				want[d] += float64(n) * float64(m.Classes[i].Count)
			}
			for x := range a.machines {
				require.Equal(t, a.machines[x].users.Has(i), c.machines[x].users.Has(merged[i]))
			}
		}
		for k := range c.demand {
			require.Equal(t, pods[k], c.market.Classes[k].Count)
			for d, n := range c.market.Classes[k].Size {
				asked[d] += float64(n) * float64(pods[k])
			}
		}
		for d := range want {
			require.InEpsilon(t, want[d], asked[d], 0.01)
		}
	}
	assert.Greater(t, merges, 20)
}

// Few classes are not merged, nor such of which only so many share a machine.
func TestCoarseKeepsApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 2))
	m := largeMarket(rng, fewClasses-1, 20)
	a := newAssignment(&m)
	first := a.starting(nil)
	c, _ := a.coarse(&first, shareSteps, nil)
	assert.Nil(t, c)

	m = largeMarket(rng, 400, 20)
	for i := range m.Classes {
		m.Classes[i].PerNode = 3
	}
	a = newAssignment(&m)
	first = a.starting(nil)
	c, _ = a.coarse(&first, shareSteps, nil)
	assert.Nil(t, c)
}

// What merging leads to is nearly what the classes themselves lead to, and proven.
func TestCoarseBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 3))
	better := 0
	for range 12 {
		m := largeMarket(rng, 300, 40)
		start := Resource(m.input())
		quick := Assignment(m, start.Values, 30_000_000, nil)
		bound, ok := proves(m, quick)
		require.True(t, ok)
		require.Equal(t, quick.Bound, bound.Int64())
		slow := Assignment(m, start.Values, enough, nil)
		require.GreaterOrEqual(t, float64(quick.Bound), 0.97*float64(slow.Bound))
		if quick.Bound > start.Bound+start.Bound/50 {
			better++
		}
	}
	assert.Greater(t, better, 5, "the start is too good to show anything")
}

// The quick count of places is the exact one or, for numbers of many digits, a little
// more, but never less.
func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 4))
	exact, pairs := 0, 0
	for round := range 200 {
		m := randomMarket(rng)
		if round%2 == 0 {
			for i := range m.Options {
				for d := range m.Options[i].Cap {
					m.Options[i].Cap[d] *= 1 + rng.Int64N(1<<40)
				}
			}
		}
		a := newAssignment(&m)
		if a == nil {
			continue
		}
		for i := range a.machines {
			a.machines[i].users.Each(func(c int) {
				k := float64(m.alone(&a.machines[i], c))
				require.GreaterOrEqual(t, a.places(i, c), k)
				require.LessOrEqual(t, a.places(i, c), k*(1+1e-9)+1)
				if pairs++; a.places(i, c) == k {
					exact++
				}
			})
		}
	}
	assert.Greater(t, exact, pairs*99/100)
}

// A worth is finite whatever resources leave of it.
func TestBeyond(t *testing.T) {
	for _, tt := range []struct{ worth, merged, left, want float64 }{
		{3, 4, 2, 6},
		{3, 1, 2, 3},
		{3, 4, 0, 4},
		{3, 0, 0, 3},
		{3, 1, 5e-324, 3},
		{3, 4, math.Inf(1), 3},
	} {
		assert.InDelta(t, tt.want, beyond(tt.worth, tt.merged, tt.left), 1e-12, "%+v", tt)
	}
}
