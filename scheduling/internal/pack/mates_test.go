package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// everyThird puts every third class into one crowd of which a machine takes so many pods.
func everyThird(p *model.Problem, most int64, holds func(c int) bool) {
	p.Crowds = []model.Crowd{{Max: most}}
	for c := 0; c < len(p.Classes); c += 3 {
		p.Classes[c].Crowds = []model.Membership{{Crowd: 0, Weight: 1, Holds: holds(c)}}
	}
}

func TestHoneTied(t *testing.T) {
	all := func(int) bool { return true }
	much := int64(race.Fewer(2_000_000, 400_000))
	for name, tc := range map[string]struct {
		work, enough int64
		change       func(*model.Problem)
		better       bool
	}{
		"nobody is crowded":         {work: much, change: func(*model.Problem) {}, better: true},
		"one of a crowd a machine":  {work: much, change: func(p *model.Problem) { everyThird(p, 1, all) }, better: true},
		"four of a crowd a machine": {work: much, change: func(p *model.Problem) { everyThird(p, 4, all) }, better: true},
		"some do not hold":          {work: much, change: func(p *model.Problem) { everyThird(p, 2, func(c int) bool { return c%2 == 0 }) }, better: true},
		"few of a class": {work: much, better: true, change: func(p *model.Problem) {
			for c := range p.Classes {
				p.Classes[c].PerNode = 1
			}
		}},
		"it costs little enough": {work: much, enough: 1 << 60, change: func(p *model.Problem) { everyThird(p, 1, all) }},
		"no work is left":        {work: -1, change: func(p *model.Problem) { everyThird(p, 1, all) }},
	} {
		t.Run(name, func(t *testing.T) {
			honesSixty(t, tc.better, func() (*model.Problem, Outcome, int64) {
				p := endless(60)
				tc.change(p)
				at := Outcome{Solution: model.Solution{Nodes: scattered(p, newBudget(p)), Unplaced: make([]int64, len(p.Classes))}}
				before := p.Cost(at.Solution.Nodes)
				return p, HoneTied(p, at, Params{Work: tc.work, Enough: tc.enough, Worths: newFiller(p).shareValues()}), before
			})
		})
	}
}

// A pod is welcome where the rule says so that looks at all items, whoever came and went.
func TestWelcomeAsJoining(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := endless(24)
		p.Crowds = []model.Crowd{{Max: 1}, {Max: 3}}
		for c := range p.Classes {
			if k := int32(r.IntN(3)); k < 2 {
				p.Classes[c].Crowds = []model.Membership{{Crowd: k, Weight: 1 + r.Int64N(2), Holds: true}}
			}
			p.Classes[c].PerNode = r.Int64N(3)
		}
		s := newSearch(p, Params{})
		nodes := []model.Node{{N: 1}, {N: 1}}
		q := s.newSqueeze(s.markets[0], nodes, everyClass(p), counts(p), r)
		for range 200 {
			i, c, out := r.IntN(2), model.ClassID(r.IntN(len(p.Classes))), model.ClassID(-1)
			items := cloneNodes(q.nodes)[i].Items
			if len(items) > 0 && r.IntN(2) == 0 {
				at := r.IntN(len(items))
				out = items[at].Class
				if items[at].N--; items[at].N == 0 {
					items = slices.Delete(items, at, at+1)
				}
			}
			welcome := q.welcome(i, c, out)
			require.Equal(t, p.Joining(items, nil, c) > 0, welcome, "seed %d: %d in place of %d at %+v", seed, c, out, q.nodes[i].Items)
			if welcome {
				q.put(i, c, 1)
				if out >= 0 {
					q.put(i, out, -1)
				}
			}
		}
	}
}

// Twenty pods of a crowd need as many machines, and those that few rows let in as many there.
func TestNeedPlaces(t *testing.T) {
	p := endless(60)
	everyThird(p, 1, func(int) bool { return true })
	s := newSearch(p, Params{})
	x := s.newRefleet(s.markets[0], everyClass(p), counts(p), s.fill.shareValues(), 1<<60, rand.New(rand.NewPCG(1, 2)))
	before := len(x.needs)
	x.needPlaces()
	require.Greater(t, len(x.needs), before)
	for i, y := range x.needs[before:] {
		assert.LessOrEqual(t, slices.Max(y), 0.5, "no machine has places for two")
		for k, z := range x.needs[before:] {
			assert.True(t, i == k || !z.implies(y), "need %d makes need %d pointless", k, i)
		}
	}
	assert.InDelta(t, 1.0/20, slices.Min(slices.Collect(func(yield func(float64) bool) {
		for _, y := range x.needs[before:] {
			if !yield(slices.Max(y)) {
				return
			}
		}
	})), 1e-9)
}
