package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// endless is a problem of picky pods in which nothing is limited.
func endless(n int) *model.Problem {
	p := particular(n)
	p.Pools[0].Limits = nil
	for o := range p.Options {
		p.Options[o].Use = nil
		p.Options[o].Supply, p.Options[o].Floor = model.NoSupply, -1
	}
	return p
}

func TestRefleets(t *testing.T) {
	for name, tc := range map[string]struct {
		work   int64
		change func(*model.Problem)
		better bool
	}{
		"a fleet for all":           {work: 1_000_000, better: true},
		"no work is left":           {},
		"crowds are left to others": {work: 1_000_000, change: crowdFirst},
		"limits are left to others": {work: 1_000_000, change: func(p *model.Problem) {
			p.Pools[0].Limits = []int64{1_000}
			for o := range p.Options {
				p.Options[o].Use = []int64{1}
			}
		}},
		"pods in conflict stay where they are": {work: 1_000_000, better: true, change: func(p *model.Problem) {
			p.Classes[0].Conflicts, p.Classes[1].Conflicts = []model.ClassID{1}, []model.ClassID{0}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() (*model.Problem, *attempt, int64) {
				p := endless(60)
				if tc.change != nil {
					tc.change(p)
				}
				s := newSearch(p, Params{Work: tc.work})
				a := s.attemptOf(model.Solution{Nodes: scattered(p, newBudget(p)), Bins: nil, Unplaced: make([]int64, len(p.Classes))})
				before := a.cost
				s.fill.work = tc.work // done before
				s.refleets(a, s.fill.shareValues())
				return p, a, before
			}
			p, a, before := run()
			require.NoError(t, check(p, model.Solution{Nodes: a.bought[0], Unplaced: a.unplaced}))
			assert.Equal(t, int64(60), pods(a.bought[0]))
			assert.Equal(t, p.Cost(a.bought[0]), a.cost)
			if tc.better {
				assert.Less(t, a.cost, before*8/10)
			} else {
				assert.Equal(t, before, a.cost)
			}
			_, other, _ := run()
			assert.Equal(t, a.bought, other.bought, "the same work gives the same machines")
		})
	}
}

// Trees find what trying all numbers of machines finds, nearly always.
func TestFleetTreesAreCheap(t *testing.T) {
	found, cheap := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := shop(r, 1+r.IntN(3))
		m := newMarket(p, p.Passes[0])
		asked := make([]int64, p.Dims)
		var needs []need
		for d := range asked {
			asked[d] = 1 + r.Int64N(16)
			y := make(need, len(m.options))
			for at, o := range m.options {
				y[at] = float64(p.Options[o].Room[d]) / float64(asked[d])
			}
			needs = append(needs, y)
		}
		x := newFleetTree(p, m, m.all, needs)
		require.NotNil(t, x, "seed %d", seed)
		fleet := x.cheapest(1e18, 200)
		require.NotNil(t, fleet, "seed %d", seed)
		have, cost := together(p, m, fleet)
		assert.True(t, model.Fits(have, asked), "seed %d", seed)
		want := cheapest(p, asked, 0, 0, 1<<40)
		require.GreaterOrEqual(t, cost, want, "seed %d", seed)
		assert.Nil(t, x.cheapest(float64(want), 200), "nothing is cheaper than the cheapest")
		for _, at := range fleet {
			if cost == want {
				assert.Contains(t, x.within(float64(want)+1), at, "seed %d: what is bought may be", seed)
			}
		}
		found++
		if cost == want {
			cheap++
		}
	}
	assert.GreaterOrEqual(t, cheap*100, found*97, "of %d", found)
	p := shop(rand.New(rand.NewPCG(1, 1)), 1)
	m := newMarket(p, p.Passes[0])
	assert.Nil(t, newFleetTree(p, m, m.all, nil), "nothing is needed")
	assert.Nil(t, newFleetTree(p, m, m.all, []need{make(need, len(m.options))}), "nothing that is for sale has it")
}

// What a fleet could not hold, the next one has more of.
func TestLearn(t *testing.T) {
	p := endless(60)
	s := newSearch(p, Params{})
	m, values := s.markets[0], s.fill.shareValues()
	all := make([]int64, len(p.Classes))
	for c := range all {
		all[c] = 1
	}
	x := s.newRefleet(m, everyClass(p), all, values, 1<<60, rand.New(rand.NewPCG(1, 2)))
	before := len(x.needs)
	small := 0
	for at, o := range m.options {
		if p.Options[o].Room[0] < p.Options[m.options[small]].Room[0] {
			small = at
		}
	}
	q, fits := x.pack([]int{small, small})
	require.False(t, fits)
	x.learn(q)
	require.Len(t, x.needs, before+1)
	assert.Less(t, 2*x.needs[before][small], 1.0)
}
