package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// leftover is n bins of uneven room, of which no two resources are alike, and as many pods of
// thirty sizes as take about all of it; nothing is for sale.
func leftover(seed uint64, n int) *model.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	all := model.NewBits(1)
	all.Set(0)
	p := &model.Problem{Dims: 3, Groups: 1, Passes: []model.Pass{{}}}
	var cpu, memory int64
	for range n {
		room := []int64{1000 + r.Int64N(7000), gib + r.Int64N(30*gib), 60}
		cpu, memory = cpu+room[0], memory+room[1]
		p.Bins = append(p.Bins, model.Bin{Room: room, Admits: all, Soft: model.NewBits(1)})
	}
	p.Classes = thirtySizes(1).Classes
	for i := range p.Classes {
		p.Classes[i].Count = 0
	}
	for {
		c := &p.Classes[r.IntN(len(p.Classes))]
		if cpu, memory = cpu-c.Request[0], memory-c.Request[1]; cpu < 0 || memory < 0 {
			return p
		}
		c.Count++
	}
}

// Bins that are filled one by one hold more, and never less.
func TestSnugBinsHoldMore(t *testing.T) {
	var loose, snug int64
	for seed := range uint64(12) {
		p := leftover(seed, 20)
		a, b := Search(p, Params{}), Search(p, Params{Snug: true})
		require.NoError(t, check(p, b.Solution))
		assert.LessOrEqual(t, total(b.Solution.Unplaced), total(a.Solution.Unplaced), "seed %d", seed)
		loose, snug = loose+total(a.Solution.Unplaced), snug+total(b.Solution.Unplaced)
	}
	t.Logf("%d pods left out, and %d with bins filled one by one", loose, snug)
	assert.Less(t, 2*snug, loose)
}

// Whatever the problem has in it, answers are right, and the same each time.
func TestSnugAnswersAreRight(t *testing.T) {
	for seed := range uint64(600) {
		p := modeltest.Random(seed)
		out := Search(p, Params{Snug: true})
		require.NoError(t, check(p, out.Solution), "seed %d", seed)
		require.Equal(t, out.Solution, Search(p, Params{Snug: true}).Solution, "seed %d", seed)
	}
}

// What pods keep away, and what is full of them already, counts in bins as well.
func TestSnugBinsKeepToCrowds(t *testing.T) {
	all := model.NewBits(1)
	all.Set(0)
	p := &model.Problem{
		Dims: 1, Groups: 1, Passes: []model.Pass{{}}, PerNodeLimits: []model.PerNodeLimit{{Max: 2}},
		Bins: []model.Bin{
			{Room: []int64{9}, Admits: all, Soft: model.NewBits(1), Present: []model.Presence{{Limit: 0, N: 1}}},
			{Room: []int64{10}, Admits: all, Soft: model.NewBits(1)},
			{Room: []int64{10}, Admits: all, Soft: all},
		},
		Classes: []model.Class{
			{Request: []int64{1}, Count: 6, PerNodeLimits: []model.Membership{{Limit: 0, Weight: 1, Holds: true}}},
			{Request: []int64{1}, Count: 3},
		},
	}
	out := Search(p, Params{Snug: true})
	require.NoError(t, check(p, out.Solution))
	held := func(bin int, c model.ClassID) (n int64) {
		for _, it := range out.Solution.Bins[bin] {
			if it.Class == c {
				n += it.N
			}
		}
		return n
	}
	assert.Equal(t, []int64{1, 2, 2}, []int64{held(0, 0), held(1, 0), held(2, 0)})
	assert.Zero(t, held(2, 1), "no pod is where it would rather not be without need")
	assert.Equal(t, []int64{1, 0}, out.Solution.Unplaced)
}
