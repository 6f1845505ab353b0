package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Groups of particular: pods that may be anywhere, in one of three zones, or on dear
// machines alone.
const (
	anywhereGroup    = 0
	firstZoneGroup   = 1
	steadyGroup      = 4
	particularGroups = 5
)

// particular is n pods of which most may be anywhere, some in one zone only and some on
// dear machines only, which there are in every zone. Machines count towards a limit.
func particular(n int) *model.Problem {
	random := rand.New(rand.NewPCG(7, 8))
	p := &model.Problem{Dims: 3, Groups: particularGroups, Pools: []model.Pool{{Limits: []int64{1_000}}}, Passes: []model.Pass{{}}}
	for zone := range 3 {
		for _, dear := range []bool{false, true} {
			admits := model.NewBits(particularGroups)
			admits.Set(anywhereGroup)
			admits.Set(firstZoneGroup + zone)
			times := int64(10 + zone)
			if dear {
				admits.Set(steadyGroup)
				times = 40
			}
			for _, o := range families() {
				o.Admits, o.Soft, o.Use = admits, model.NewBits(particularGroups), []int64{1}
				o.Cost, o.Price = o.Cost*times/10, o.Price*times/10
				p.Options = append(p.Options, o)
			}
		}
	}
	for i := range n {
		group := anywhereGroup
		switch i % 8 {
		case 0:
			group = firstZoneGroup + i/8%3
		case 4, 5:
			group = steadyGroup
		}
		cpu := int64(50 + random.IntN(1_500))
		p.Classes = append(p.Classes, model.Class{
			Group: int32(group), Count: 1, Request: []int64{cpu, cpu * int64(1+random.IntN(6)) << 20, 1},
		})
	}
	return p
}

// crowdFirst lets one pod of the first class at most be on a machine, as a crowd.
func crowdFirst(p *model.Problem) {
	p.Crowds = []model.Crowd{{Max: 1}}
	p.Classes[0].Crowds = []model.Membership{{Crowd: 0, Weight: 1, Holds: true}}
}

func TestPickyKinds(t *testing.T) {
	p := particular(16)
	s := newSearch(p, Params{})
	kinds := s.pickyKinds(s.markets[0])
	require.Len(t, kinds, 5)
	var rows []int
	for _, k := range kinds {
		rows = append(rows, len(k.rows))
	}
	assert.Equal(t, []int{2, 2, 2, 3, 6}, rows, "the pickiest come first")
	assert.True(t, kinds[3].groups.Has(steadyGroup))
	assert.True(t, kinds[4].groups.Has(anywhereGroup))

	all := model.NewBits(2)
	all.Set(0)
	all.Set(1)
	alike := &model.Problem{Dims: 1, Groups: 2, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}, Options: []model.Option{{
		Room: []int64{1}, Cost: 1, Supply: model.NoSupply, Floor: -1, Admits: all, Soft: model.NewBits(2),
	}}}
	s = newSearch(alike, Params{})
	assert.Len(t, s.pickyKinds(s.markets[0]), 1, "groups that may be in the same rows are one kind")
}

// scattered buys for every pod on its own the cheapest machine in a row of its own turn.
func scattered(p *model.Problem, b *budget) []model.Node {
	var out []model.Node
	for c := range p.Classes {
		best := -1
		for o := range p.Options {
			x := &p.Options[o]
			if x.Admits.Has(int(p.Classes[c].Group)) && model.Fits(x.Room, p.Classes[c].Request) &&
				(best < 0 || x.Cost < p.Options[best].Cost || x.Cost == p.Options[best].Cost && c%2 > 0) {
				best = o
			}
		}
		b.spend(&p.Options[best], 1)
		out = append(out, model.Node{Option: model.OptionID(best), N: 1, Items: []model.Item{{Class: model.ClassID(c), N: 1}}})
	}
	return out
}

func TestRegroup(t *testing.T) {
	for name, tc := range map[string]struct {
		budget int64
		change func(*model.Problem)
		better bool
	}{
		"machines of picky pods are packed anew": {budget: 5_000_000, better: true},
		"no work is left":                        {budget: 0},
		"crowds are left to others":              {budget: 5_000_000, change: crowdFirst},
		"all machines let in the same pods": {budget: 5_000_000, change: func(p *model.Problem) {
			for c := range p.Classes {
				p.Classes[c].Group = anywhereGroup
			}
			for o := range p.Options {
				p.Options[o].Admits = p.Options[0].Admits
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := particular(96)
			if tc.change != nil {
				tc.change(p)
			}
			s := newSearch(p, Params{Work: 1})
			s.budget = tc.budget
			b := newBudget(p)
			nodes := scattered(p, b)
			values := s.fill.shareValues()
			r := newRanking(p, nodes, values)
			before := p.Cost(r.nodes)
			s.regroup(s.markets[0], r, values, b, rand.New(rand.NewPCG(1, 1)))
			require.NoError(t, check(p, model.Solution{Nodes: r.nodes, Unplaced: make([]int64, len(p.Classes))}))
			assert.Equal(t, int64(96), pods(r.nodes))
			assert.Equal(t, 1_000-model.Count(r.nodes), b.limits[0][0], "what was tried in vain was given back")
			if tc.better {
				assert.Less(t, p.Cost(r.nodes), before*8/10)
			} else {
				assert.Equal(t, before, p.Cost(r.nodes))
			}
			again := newBudget(p)
			other := newRanking(p, scattered(p, again), values)
			s = newSearch(p, Params{Work: 1})
			s.budget = tc.budget
			s.regroup(s.markets[0], other, values, again, rand.New(rand.NewPCG(1, 1)))
			assert.Equal(t, r.nodes, other.nodes, "the same work gives the same machines")
		})
	}
}
