package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// portProblem is pods that need a machine each, and large ones that nearly fill one.
func portProblem(room int64) *model.Problem {
	admits := model.Bits{1}
	return &model.Problem{
		Dims: 1, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}},
		Options: []model.Option{{Room: []int64{room}, Cost: 50, Price: 50, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(1)}},
		Classes: []model.Class{
			{Request: []int64{30}, Count: 4},
			{Request: []int64{31}, Count: 1},
			{Request: []int64{10}, Count: 3, PerNode: 1},
		},
	}
}

func TestDissolve(t *testing.T) {
	for name, tc := range map[string]struct {
		room int64
		want int
	}{
		"the others share the pods": {158, 3},
		"they have room for some":   {60, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := portProblem(tc.room)
			s := newSearch(p, Params{Work: 1_000_000})
			s.budget = 1_000_000
			b := newBudget(p)
			nodes := []model.Node{
				{N: 1, Items: []model.Item{{Class: 0, N: 4}, {Class: 1, N: 1}}},
				{N: 1, Items: []model.Item{{Class: 2, N: 1}}},
				{N: 1, Items: []model.Item{{Class: 2, N: 1}}},
				{N: 1, Items: []model.Item{{Class: 2, N: 1}}},
			}
			for i := range nodes {
				b.spend(&p.Options[nodes[i].Option], 1)
			}
			r := newRanking(p, nodes, s.fill.shareValues())
			s.dissolve(s.markets[0], r, b)
			assert.Len(t, r.nodes, tc.want)
			assert.Equal(t, int64(8), pods(r.nodes))
			if tc.want == 3 {
				require.NoError(t, check(p, model.Solution{Nodes: r.nodes, Unplaced: make([]int64, 3)}))
			}
			assert.Equal(t, int64(4), nodes[0].Items[0].N, "what was handed in has not changed")
		})
	}
	p := portProblem(158)
	out := Search(p, Params{Work: 1_000_000})
	require.NoError(t, check(p, out.Solution))
	assert.Equal(t, int64(3), model.Count(out.Solution.Nodes))
}
