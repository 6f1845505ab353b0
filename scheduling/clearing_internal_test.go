package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A pod that must be alone pays for its place, others for what they ask for.
func TestClearing(t *testing.T) {
	admits := model.NewBits(1)
	admits.Set(0)
	p := &model.Problem{
		Dims: 1, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}, Crowds: []model.Crowd{{Max: 1}},
		Classes: []model.Class{
			{Request: []int64{1}, Count: 20, Crowds: []model.Membership{{Weight: 1, Holds: true}}},
			{Request: []int64{1}, Count: 400},
		},
		Options: []model.Option{
			{Room: []int64{1}, Cost: 1_000_000, Price: 1_000_000, Admits: admits, Soft: model.NewBits(1), Floor: -1, Supply: model.NoSupply},
			{Room: []int64{100}, Cost: 10_000_000, Price: 10_000_000, Admits: admits, Soft: model.NewBits(1), Floor: -1, Supply: model.NoSupply},
		},
	}
	x := newClearing(p, nil)
	require.Len(t, x.worths, 2)
	assert.InEpsilon(t, 1_000_000, x.worths[0], 0.01)
	assert.InEpsilon(t, 9_000_000.0/99, x.worths[1], 0.01) // beside one that is alone
	assert.InEpsilon(t, 20*x.worths[0]+400*x.worths[1], x.bound, 0.001)
	p.Classes[0].Count = 10 // so few count for nothing
	m, classOf := clearingMarket(p)
	assert.Equal(t, 1, m.Dims)
	assert.Equal(t, []int{0, 0}, classOf)
	p.Classes[0].Count = 0
	x = newClearing(p, nil)
	assert.Zero(t, x.worths[0], "there are no such pods")
	assert.InEpsilon(t, 100_000, x.worths[1], 0.01)
}
