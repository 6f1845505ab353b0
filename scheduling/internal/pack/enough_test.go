package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// cluster draws many bins of uneven room, and few pods.
func cluster(r *rand.Rand, bins int) *model.Problem {
	p := &model.Problem{Dims: 2, Groups: 3, Passes: []model.Pass{{}}, Pools: []model.Pool{{}}}
	for range 1 + r.IntN(5) {
		p.Classes = append(p.Classes, model.Class{
			Group: int32(r.IntN(3)), Request: []int64{1 + r.Int64N(40), 1 + r.Int64N(40)}, Count: 1 + r.Int64N(8), Priority: int32(r.IntN(2)),
		})
	}
	all := model.NewBits(3)
	for range bins {
		b := model.Bin{Room: []int64{r.Int64N(50), r.Int64N(50)}, Admits: model.NewBits(3), Soft: model.NewBits(3)}
		for g := range 3 {
			all.Set(g)
			if r.IntN(4) > 0 {
				b.Admits.Set(g)
				if r.IntN(5) == 0 {
					b.Soft.Set(g)
				}
			}
		}
		p.Bins = append(p.Bins, b)
	}
	if r.IntN(3) > 0 {
		p.Options = []model.Option{{Room: []int64{100, 100}, Cost: 100, Price: 100, Supply: model.NoSupply, Floor: -1, Admits: all, Soft: model.NewBits(3)}}
	}
	return p
}

// onePass fills the fullest bins first.
func onePass(p *model.Problem) *attempt {
	s := newSearch(p, Params{})
	return s.try(s.fill.ShareValues(), false)
}

// Looking at fewer bins places as many pods for no more money, and pods that fill the
// fullest bins first never come to others.
func TestUsefulBinsAreEnough(t *testing.T) {
	fewer := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := cluster(r, 65+r.IntN(400))
		kept := greedy.Useful(p)
		if len(kept) == len(p.Bins) {
			continue
		}
		fewer++
		got, want := Search(p, Params{}), searchIn(p, Params{})
		require.Len(t, got.Solution.Bins, len(p.Bins))
		cost, most := p.Cost(got.Solution.Nodes), p.Cost(want.Solution.Nodes)
		placed := func(s model.Solution) (n int64) {
			for c, left := range s.Unplaced {
				n += p.Classes[c].Count - left
			}
			return n
		}
		require.GreaterOrEqual(t, placed(got.Solution), placed(want.Solution), "seed %d", seed)
		if placed(got.Solution) == placed(want.Solution) {
			require.LessOrEqual(t, cost, most, "seed %d", seed)
		}
		for at, items := range onePass(p).bins.Items {
			if !slices.Contains(kept, at) {
				require.Empty(t, items, "seed %d, bin %d", seed, at)
			}
		}
	}
	assert.Greater(t, fewer, 200)
}
