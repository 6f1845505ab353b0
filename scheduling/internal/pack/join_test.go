package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods that would rather be elsewhere, but have nowhere else, join machines that others
// need anyway.
func TestSoftPodsJoinMachinesOfEarlierPasses(t *testing.T) {
	admits, soft := model.NewBits(2), model.NewBits(2)
	admits.Set(0)
	admits.Set(1)
	soft.Set(1)
	p := &model.Problem{
		Dims: 1, Groups: 2, Pools: make([]model.Pool, 1),
		Passes: []model.Pass{{}, {Soft: true}},
		Options: []model.Option{{
			Room: []int64{8}, Cost: 1000, Price: 1000, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: soft,
		}},
		Classes: []model.Class{
			{Group: 0, Request: []int64{3}, Count: 4},
			{Group: 1, Request: []int64{2}, Count: 2},
		},
	}
	for _, work := range []int64{0, 1_000_000} {
		out := Search(p, Params{Work: work})
		require.NoError(t, check(p, out.Solution))
		assert.Zero(t, total(out.Solution.Unplaced))
		assert.Equal(t, int64(2), model.Count(out.Solution.Nodes), "work %d", work)
	}
}
