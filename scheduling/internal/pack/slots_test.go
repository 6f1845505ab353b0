package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// apart is pods of three kinds that keep off their own, six, four and one of them, beside
// many that nothing ties. Large machines cost little for what they hold, and small ones
// are just large enough for one of a kind.
func apart() *model.Problem {
	p := &model.Problem{Dims: 1, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	admits := model.NewBits(1)
	admits.Set(0)
	for _, o := range []struct{ room, cost int64 }{{100, 100}, {40, 44}, {4, 5}} {
		p.Options = append(p.Options, model.Option{
			Room: []int64{o.room}, Cost: o.cost, Price: o.cost, Supply: model.NoSupply, Floor: -1,
			Admits: admits, Soft: model.NewBits(1),
		})
	}
	for kind, n := range []int64{6, 4, 1} {
		p.PerNodeLimits = append(p.PerNodeLimits, model.PerNodeLimit{Max: 1})
		p.Classes = append(p.Classes, model.Class{
			Request: []int64{3}, Count: n, PerNodeLimits: []model.Membership{{Limit: int32(kind), Weight: 1, Holds: true}},
		})
	}
	p.Classes = append(p.Classes, model.Class{Request: []int64{2}, Count: 180})
	return p
}

// However large machines are, pods that keep off their own need one each; large machines
// are bought all the same, and small ones for those that are left.
func TestLargeMachinesBesideSlots(t *testing.T) {
	p := apart()
	for _, work := range []int64{0, 1_000_000} {
		out := Search(p, Params{Work: work})
		require.NoError(t, check(p, out.Solution))
		require.Zero(t, total(out.Solution.Unplaced))
		assert.Equal(t, int64(408), p.Cost(out.Solution.Nodes), "work %d", work) // 410 with four large ones and two small
	}
}
