package columns

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

func never() bool { return false }

// oneResource is a problem of pods and machines with a single resource.
func oneResource(sizes, counts []int64, machines map[int64]int64) *model.Problem {
	all, none := model.NewBits(1), model.NewBits(1)
	all.Set(0)
	p := &model.Problem{Dims: 1, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	for i, n := range sizes {
		p.Classes = append(p.Classes, model.Class{Request: []int64{n}, Count: counts[i]})
	}
	for room := range int64(100) {
		if cost, sold := machines[room]; sold {
			p.Options = append(p.Options, model.Option{Room: []int64{room}, Cost: cost, Supply: model.NoSupply, Admits: all, Soft: none, Floor: -1})
		}
	}
	return p
}

// alone puts each pod onto a machine of the largest option.
func alone(p *model.Problem) (out []model.Node) {
	for c := range p.Classes {
		out = append(out, model.Node{
			Option: model.OptionID(len(p.Options) - 1), N: p.Classes[c].Count, Items: []model.Item{{Class: model.ClassID(c), N: 1}},
		})
	}
	return out
}

// Machines of room 10 are filled exactly by one pod of 6 and one of 4, or by two of 5. Filling them one by one with the
// most valuable pods first does not see that; a linear program over patterns does.
func TestDiveFindsPatternsThatFitTogether(t *testing.T) {
	p := oneResource([]int64{6, 5, 4}, []int64{8, 8, 8}, map[int64]int64{10: 10})
	f := greedy.NewFiller(p)
	x := New(p, f, greedy.NewMarket(p, model.Pass{}), alone(p), nil, 1_000_000, never)
	require.NotNil(t, x)
	nodes := x.Dive(Rounds)
	assert.EqualValues(t, 12, model.Count(nodes))
	requireSamePods(t, p, alone(p), nodes)
	duals := x.First
	for _, pattern := range [][]float64{{1, 0, 1}, {0, 2, 0}} {
		sum := 0.0
		for c, n := range pattern {
			sum += n * duals[c]
		}
		assert.InDelta(t, 10, sum, 1e-6, "a pattern of the optimum is worth its cost")
	}
}

// Large machines are a bargain only if they are full: the number of them is decided first.
func TestDiveBuysFewLargeMachines(t *testing.T) {
	p := oneResource([]int64{1}, []int64{25}, map[int64]int64{1: 10, 20: 100})
	x := New(p, greedy.NewFiller(p), greedy.NewMarket(p, model.Pass{}), alone(p), nil, 1_000_000, never)
	assert.EqualValues(t, 150, p.Cost(x.Dive(Rounds)), "one machine of room 20, five of room 1")
}

// Whatever the problem, machines that a dive buys hold the same pods as before, within room, admission and
// per-node limits; nil stands for none.
func TestDiveKeepsPodsAndRules(t *testing.T) {
	dives, cheaper := 0, 0
	for seed := range uint64(600) {
		p := modeltest.Random(seed)
		if p.Limited() || len(p.Floors) > 0 {
			continue // the caller's duty
		}
		f, m, remaining := greedy.NewFiller(p), greedy.NewMarket(p, p.Passes[0]), make([]int64, len(p.Classes))
		for c := range p.Classes {
			remaining[c] = p.Classes[c].Count
		}
		before := f.Buy(m, m.All, f.Placeable(remaining), remaining, f.ShareValues(), greedy.NewBudget(p))
		x := New(p, f, m, before, nil, 200_000, never)
		if len(before) == 0 || x == nil {
			continue
		}
		after := x.Dive(Rounds)
		if after == nil {
			continue
		}
		dives++
		requireSamePods(t, p, before, after)
		for i := range after {
			requireFeasible(t, p, m, &after[i])
		}
		if p.Cost(after) < p.Cost(before) {
			cheaper++
		}
	}
	assert.Greater(t, dives, 30)
	assert.Positive(t, cheaper)
}

// A deadline in the past ends pricing at once; the pods still have machines.
func TestDivePastTheDeadline(t *testing.T) {
	p := oneResource([]int64{6, 4}, []int64{5, 5}, map[int64]int64{10: 10})
	nodes := New(p, greedy.NewFiller(p), greedy.NewMarket(p, model.Pass{}), alone(p), nil, 1_000_000, func() bool { return true }).Dive(Rounds)
	requireSamePods(t, p, alone(p), nodes)
}

func requireSamePods(t *testing.T, p *model.Problem, before, after []model.Node) {
	t.Helper()
	counts := make([]int64, len(p.Classes))
	for i, nodes := range [][]model.Node{before, after} {
		for k := range nodes {
			for _, it := range nodes[k].Items {
				counts[it.Class] += it.N * nodes[k].N * int64(1-2*i)
			}
		}
	}
	require.Equal(t, make([]int64, len(p.Classes)), counts)
}

func requireFeasible(t *testing.T, p *model.Problem, m *greedy.Market, n *model.Node) {
	t.Helper()
	load := make([]int64, p.Dims)
	p.Load(load, n.Items)
	require.True(t, model.Fits(p.Options[n.Option].Room, load))
	require.True(t, p.WithinPerNodeLimits(n.Items, nil))
	for i, it := range n.Items {
		require.True(t, m.Rows[m.RowOf[n.Option]].Has(int(p.Classes[it.Class].Group)))
		require.GreaterOrEqual(t, p.Joining(n.Items[:i], nil, it.Class), it.N)
	}
}
