package topology

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
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

// cheaperBinds expects of a plan with proofs that it binds in any order, places the pods of one
// without, and costs no more; it reports whether it costs less.
func cheaperBinds(t *testing.T, p *Problem, before, after *Result) bool {
	t.Helper()
	assert.Equal(t, before.Unplaced, after.Unplaced, "%d kinds", len(p.Rules))
	for c := range p.Classes {
		assert.Equal(t, podsOf(before.Counts[c]), podsOf(after.Counts[c]))
	}
	s, all := planned(p, after.Counts)
	require.True(t, s.certified(all), "%d kinds: %v", len(p.Rules), after.Counts)
	assert.Equal(t, after.Counts, Replay(p, after.Counts, nil))
	assert.Equal(t, after, Plan(p), "the same again")
	assert.LessOrEqual(t, priceOf(p, after.Counts), priceOf(p, before.Counts), "%d kinds", len(p.Rules))
	return priceOf(p, after.Counts) < priceOf(p, before.Counts)
}

// Pods that are moved to cheaper sites bind in any order there, and all are still placed.
func TestPolishedPlansCostLess(t *testing.T) {
	cheaper := 0
	for n := range int32(race.Fewer(4, 2)) {
		n += 3
		for _, free := range []int64{20, 45} {
			p := letters(n, 5, free)
			before := Plan(p)
			p.Proofs = 400
			after := Plan(p)
			if cheaperBinds(t, p, before, after) {
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

// The cheapest site of all may be one whose nodes lack the key of a spread, such as a pool
// of its own without zones. Pods that the spread only counts may go there; those that hold
// it may not, and there is no proof of a plan that has them there.
func TestPolishWhereTheKeyIsMissing(t *testing.T) {
	p := letters(4, 5, 30)
	for c := range p.Classes {
		domains := make([]int32, len(p.Classes[c].Links))
		for k := range domains {
			domains[k] = None
		}
		p.Classes[c].Sites = append(p.Classes[c].Sites, Site{Cost: 1, Limit: -1, Domains: domains})
	}
	p.Proofs = 400
	got := Plan(p)
	missing := len(p.Classes[0].Sites) - 1
	for c := range p.Classes {
		holds := slices.ContainsFunc(p.Classes[c].Links, func(l Link) bool { return l.Holds })
		assert.Zero(t, got.Unplaced[c])
		if holds {
			assert.Zero(t, got.Counts[c][missing], "class %d", c)
		}
	}
	assert.Equal(t, got.Counts, Replay(p, got.Counts, nil))

	s, all := planned(p, got.Counts)
	require.True(t, s.certified(all))
	for _, m := range s.shifts(all) {
		assert.False(t, s.barred(m.to), "class %d", s.cells[m.to].class)
	}
	last := int32(len(p.Classes) - 1) // one that holds a spread
	at := s.first[last]
	for s.placed[at] == 0 {
		at++
	}
	s.move(shift{from: at, to: s.first[last+1] - 1}, 1)
	assert.False(t, s.certified(all), "a pod without a domain of the spread that it holds")
}

func podsOf(counts []int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}
