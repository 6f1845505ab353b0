package topology

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// priceOf is what pods cost by the costs of their sites.
func priceOf(p *Problem, counts [][]int64) (sum int64) {
	for c := range counts {
		for k, n := range counts[c] {
			sum += n * p.Classes[c].Sites[k].Cost
		}
	}
	return sum
}

// Pods that are moved to cheaper sites bind in any order there, and all are still placed.
func TestPolishedPlansCostLess(t *testing.T) {
	cheaper := 0
	for n := int32(3); n <= 6; n++ {
		for _, free := range []int64{20, 45} {
			p := letters(n, 5, free)
			before := Plan(p)
			p.Proofs = 400
			after := Plan(p)
			assert.Equal(t, before.Unplaced, after.Unplaced, "%d kinds", n)
			for c := range p.Classes {
				assert.Equal(t, podsOf(before.Counts[c]), podsOf(after.Counts[c]))
			}
			s, all := planned(p, after.Counts)
			require.True(t, s.certified(all), "%d kinds: %v", n, after.Counts)
			assert.Equal(t, after.Counts, Replay(p, after.Counts, nil))
			assert.Equal(t, after, Plan(p), "the same again")
			assert.LessOrEqual(t, priceOf(p, after.Counts), priceOf(p, before.Counts), "%d kinds", n)
			if priceOf(p, after.Counts) < priceOf(p, before.Counts) {
				cheaper++
			}
		}
	}
	assert.Positive(t, cheaper)
}

// Who is not moved: those at sites with limits, those that have other ties than spreads, and
// anybody where there is no proof to begin with.
func TestPolishLeavesAlone(t *testing.T) {
	p := letters(4, 5, 30)
	at := Plan(p).Counts
	for name, change := range map[string]func(p *Problem){
		"limits": func(p *Problem) {
			for c := range p.Classes {
				for k := range p.Classes[c].Sites {
					p.Classes[c].Sites[k].Limit = 1000
				}
			}
		},
		"nowhere": func(p *Problem) {
			for c := range p.Classes {
				for k := range p.Classes[c].Sites {
					p.Classes[c].Sites[k].Cost = Nowhere
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := letters(4, 5, 30)
			change(q)
			s, all := planned(q, at)
			before := slices.Clone(s.placed)
			s.polish(all, 1000)
			assert.Equal(t, before, s.placed)
		})
	}
	s, all := planned(p, at)
	before := slices.Clone(s.placed)
	s.polish(all, 0)
	assert.Equal(t, before, s.placed)
}

func podsOf(counts []int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}
