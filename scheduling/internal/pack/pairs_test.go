package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A pod that could be anywhere ends beside one that has to be in the dear zone, however
// cheap a machine of its own would be.
func TestPairsUnite(t *testing.T) {
	option := func(cost int64, groups ...int) model.Option {
		admits := model.NewBits(2)
		for _, g := range groups {
			admits.Set(g)
		}
		return model.Option{Room: []int64{80}, Cost: cost, Price: cost, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(2)}
	}
	p := &model.Problem{
		Dims: 1, Groups: 2, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}},
		Options: []model.Option{option(282, 0, 1), option(182, 0)},
		Crowds:  []model.Crowd{{Max: 1}},
		Classes: []model.Class{
			{Group: 0, Request: []int64{30}, Count: 1},
			{Group: 1, Request: []int64{15}, Count: 1, Crowds: []model.Membership{{Weight: 1, Holds: true}}},
			{Group: 1, Request: []int64{60}, Count: 3, Crowds: []model.Membership{{Weight: 1, Holds: true}}},
		},
	}
	s := newSearch(p, Params{Work: 1_000_000})
	s.budget = 1_000_000
	b := newBudget(p)
	nodes := []model.Node{
		{Option: 1, N: 1, Items: []model.Item{{Class: 0, N: 1}}},
		{Option: 0, N: 1, Items: []model.Item{{Class: 1, N: 1}}},
		{Option: 0, N: 1, Items: []model.Item{{Class: 2, N: 1}}},
		{Option: 0, N: 1, Items: []model.Item{{Class: 2, N: 1}}},
		{Option: 0, N: 1, Items: []model.Item{{Class: 2, N: 1}}},
	}
	r := newRanking(p, nodes, s.fill.shareValues())
	remaining := make([]int64, len(p.Classes))
	s.unitePairs(s.markets[0], r, remaining, b)
	assert.Equal(t, int64(4*282), p.Cost(r.nodes))
	assert.Zero(t, total(remaining))
	out := Search(p, Params{})
	require.NoError(t, check(p, out.Solution))
	assert.Equal(t, int64(4*282), p.Cost(out.Solution.Nodes))
}
