package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
)

var plenty = Effort{Work: enough, Filling: enough}

// No way to place the pods is cheaper than the bound, the bound is proven, and it is no
// worse than that of the assignment.
func TestPatternAgainstTheOptimum(t *testing.T) {
	solvable, tight, better, filled := 0, 0, 0, 0
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(59, seed))
		m := randomMarket(rng)
		best, ok := cheapest(m)
		if !ok {
			continue // nothing is claimed about plans that cannot be
		}
		start := covering.Resource(m.input())
		before := Assignment(m, start.Values, enough, nil)
		r := Pattern(m, start.Values, plenty)
		require.GreaterOrEqual(t, r.Bound, before.Bound, "%+v", m)
		if r.Bound == 0 {
			continue
		}
		solvable++
		proven(t, m, r, best)
		if r.Bound == best {
			tight++
		}
		if r.Bound > before.Bound+before.Bound/100 {
			better++
		}
		if r.Filled {
			filled++
		}
	}
	t.Logf("%d bounds, %d equal the optimum, %d beat those of assignments, %d take fillings to prove", solvable, tight, better, filled)
	assert.Positive(t, solvable)
	assert.Positive(t, tight)
	assert.Positive(t, better)
	assert.Greater(t, filled, better)
}

func TestPattern(t *testing.T) {
	for _, tc := range []struct {
		name             string
		m                Market
		assigned, filled int64
	}{
		{"two of three thirds and a bit are all that fits", Market{
			Dims: 1, Classes: []Class{{Size: []int64{34}, Count: 100}, {Size: []int64{33}, Count: 50}},
			Options: []Choice{{Cap: []int64{100}, Price: usd, Users: row(true, true)}},
		}, 50_500_000_000, 62_500_000_000},
		{"pods that leave half of every machine empty", Market{
			Dims: 2, Classes: []Class{{Size: []int64{6, 1}, Count: 10}, {Size: []int64{1, 6}, Count: 10}, {Size: []int64{6, 6}, Count: 10}},
			Options: []Choice{{Cap: []int64{10, 10}, Price: usd, Users: row(true, true, true)}},
		}, 13_000_000_000, 20_000_000_000},
		{"a machine that is there holds one of them", Market{
			Dims: 1, Classes: []Class{{Size: []int64{3}, Count: 4}, {Size: []int64{2}, Count: 4}},
			Options:  []Choice{{Cap: []int64{6}, Price: usd, Users: row(true, true)}},
			Supplies: []Supply{{Count: 1, Members: []Choice{{Cap: []int64{4}, Users: row(true, true)}}}},
		}, 2_666_666_667, 2_666_666_667},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := covering.Resource(tc.m.input())
			before := Assignment(tc.m, start.Values, enough, nil)
			r := Pattern(tc.m, start.Values, plenty)
			assert.InEpsilon(t, tc.assigned, before.Bound, 1e-6)
			assert.InEpsilon(t, tc.filled, r.Bound, 1e-5)
			bound, ok := proves(tc.m, r)
			require.True(t, ok)
			assert.GreaterOrEqual(t, bound.Int64(), r.Bound)
		})
	}
}

// It stops when it is told to, at something that is proven.
func TestPatternStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 2))
	early, improved := 0, 0
	for range 60 {
		m := randomMarket(rng)
		start := covering.Resource(m.input())
		before := Assignment(m, start.Values, enough, nil)
		full := Pattern(m, start.Values, plenty)
		if full.Bound <= before.Bound || before.Bound < 1000 {
			continue
		}
		improved++
		require.Equal(t, before.Bound, Pattern(m, start.Values, Effort{Work: enough}).Bound, "no work is left")
		for limit := 1; ; limit *= 2 {
			calls := 0
			r := Pattern(m, start.Values, Effort{Work: enough, Filling: enough, Late: func() bool {
				calls++
				return calls > limit
			}})
			if r.Bound > 0 {
				bound, ok := proves(m, r)
				require.True(t, ok)
				require.Equal(t, r.Bound, bound.Int64())
			}
			if calls <= limit {
				require.Equal(t, full.Bound, r.Bound)
				break
			}
			early++
		}
	}
	assert.Positive(t, improved)
	assert.Greater(t, early, improved)
}

func TestPatternIsRepeatable(t *testing.T) {
	for seed := range uint64(20) {
		m := randomMarket(rand.New(rand.NewPCG(59, seed)))
		repeats(t, func() Assigned { return Pattern(m, nil, plenty) })
	}
}

// Numbers at the edges of their types give a bound that is proven, or none.
func TestPatternAtTheEdges(t *testing.T) {
	for seed := range soak.Cases(60) {
		rng := rand.New(rand.NewPCG(59, seed))
		m := randomMarket(rng)
		factor := int64(1) << rng.IntN(56)
		for i := range m.Classes {
			for d := range m.Classes[i].Size {
				m.Classes[i].Size[d] *= factor
			}
		}
		for i := range m.Options {
			m.Options[i].Price <<= rng.IntN(30)
			for d := range m.Options[i].Cap {
				m.Options[i].Cap[d] = m.Options[i].Cap[d]*factor + rng.Int64N(factor)
			}
		}
		for i := range m.Supplies {
			for j := range m.Supplies[i].Members {
				for d := range m.Supplies[i].Members[j].Cap {
					m.Supplies[i].Members[j].Cap[d] *= factor
				}
			}
		}
		start := covering.Resource(m.input())
		if r := Pattern(m, start.Values, plenty); r.Bound > 0 {
			proven(t, m, r, math.MaxInt64)
		}
	}
}
