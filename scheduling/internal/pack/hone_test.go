package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

func TestHone(t *testing.T) {
	for name, tc := range map[string]struct {
		work   int64
		change func(*model.Problem, *Outcome)
		better bool
	}{
		"cheaper machines":          {work: 6_000_000, better: true},
		"no work is left":           {work: -honeShare},
		"late":                      {work: 6_000_000, change: func(_ *model.Problem, at *Outcome) { at.Late = true }},
		"crowds are left to others": {work: 6_000_000, change: func(p *model.Problem, _ *Outcome) { crowdFirst(p) }},
		"limits are left to others": {work: 6_000_000, change: func(p *model.Problem, _ *Outcome) {
			p.Pools[0].Limits = []int64{1_000}
			for o := range p.Options {
				p.Options[o].Use = []int64{1}
			}
		}},
		"floors are left to others": {work: 6_000_000, change: func(p *model.Problem, _ *Outcome) {
			p.Floors = []model.Floor{{}}
			for o := range p.Options {
				p.Options[o].Floor = 0
			}
		}},
		"pods in conflict stay where they are": {work: 6_000_000, better: true, change: func(p *model.Problem, _ *Outcome) {
			p.Classes[0].Conflicts, p.Classes[1].Conflicts = []model.ClassID{1}, []model.ClassID{0}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			honesSixty(t, tc.better, func() (*model.Problem, Outcome, int64) {
				p := endless(60)
				at := Outcome{Work: tc.work}
				if tc.change != nil {
					tc.change(p, &at)
				}
				at.Solution = model.Solution{Nodes: scattered(p, newBudget(p)), Unplaced: make([]int64, len(p.Classes))}
				before := p.Cost(at.Solution.Nodes)
				return p, Hone(p, at, Params{Worths: newFiller(p).shareValues()}), before
			})
		})
	}
}

// honesSixty expects of an answer for sixty pods that it keeps the rules, comes out the same again,
// and costs clearly less than before, or as much. run also returns what machines cost before.
func honesSixty(t *testing.T, better bool, run func() (*model.Problem, Outcome, int64)) {
	t.Helper()
	p, out, before := run()
	require.NoError(t, check(p, out.Solution))
	assert.Equal(t, int64(60), pods(out.Solution.Nodes))
	if better {
		assert.Less(t, p.Cost(out.Solution.Nodes), before*95/100)
	} else {
		assert.Equal(t, before, p.Cost(out.Solution.Nodes))
	}
	_, other, _ := run()
	assert.Equal(t, out.Solution, other.Solution, "the same work gives the same machines")
}

// Two machines that hold all pods are full to the last unit. What is in vain changes nothing.
func TestInsist(t *testing.T) {
	for _, tc := range []struct {
		room int64
		want bool
	}{{26, true}, {24, false}} {
		p := &model.Problem{Dims: 1, Groups: 1, Passes: []model.Pass{{}}, Pools: make([]model.Pool, 1)}
		row := model.NewBits(1)
		row.Set(0)
		p.Options = []model.Option{{
			Room: []int64{tc.room}, Cost: 1, Price: 1, Supply: model.NoSupply, Admits: row, Soft: model.NewBits(1), Floor: -1,
		}}
		total := []int64{2, 1, 3, 1}
		for i, n := range total {
			p.Classes = append(p.Classes, model.Class{Request: []int64{[]int64{3, 4, 10, 10}[i]}, Count: n})
		}
		s := newSearch(p, Params{})
		q := s.newSqueeze(s.markets[0], []model.Node{
			{N: 1, Items: []model.Item{{Class: 0, N: 1}, {Class: 2, N: 2}, {Class: 1, N: 1}}},
			{N: 1, Items: []model.Item{{Class: 0, N: 1}, {Class: 2, N: 1}, {Class: 3, N: 1}}},
		}, everyClass(p), total, rand.New(rand.NewPCG(1, 2)))
		before := q.clone()
		assert.Equal(t, tc.want, q.insist(), "room %d", tc.room)
		assert.Equal(t, tc.want, q.fits())
		if !tc.want {
			assert.Equal(t, before.nodes, q.nodes)
			assert.Equal(t, before.over, q.over)
		}
	}
}

// What a fleet could not hold, the next one has more of; and it has a machine for each pod.
func TestTeach(t *testing.T) {
	p := endless(60)
	s := newSearch(p, Params{})
	m, values := s.markets[0], s.fill.shareValues()
	all := make([]int64, len(p.Classes))
	for c := range all {
		all[c] = 1
	}
	x := s.newRefleet(m, everyClass(p), all, values, 1<<60, rand.New(rand.NewPCG(1, 2)))
	x.needHolders()
	for _, y := range x.needs {
		assert.Positive(t, slices.Max(y), "something that is for sale has what is needed")
	}
	before := len(x.needs)
	small := 0
	for at, o := range m.options {
		if p.Options[o].Room[0] < p.Options[m.options[small]].Room[0] {
			small = at
		}
	}
	q, fits := x.pack([]int{small, small})
	require.False(t, fits)
	x.teach(q)
	require.Len(t, x.needs, before+1)
	assert.Less(t, 2*x.needs[before][small], 1.0)
}
