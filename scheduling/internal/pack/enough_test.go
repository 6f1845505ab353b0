package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

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
		p := modeltest.Cluster(r, 65+r.IntN(400))
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
