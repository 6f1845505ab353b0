package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// beside draws bins and pods of which some are too large for them, some conflict and some
// are bounded per machine.
func beside(r *rand.Rand) *model.Problem {
	p := modeltest.Cluster(r, 1+r.IntN(30))
	for range 1 + r.IntN(3) {
		p.Classes = append(p.Classes, model.Class{Group: int32(r.IntN(3)), Request: []int64{51 + r.Int64N(40), 1 + r.Int64N(90)}, Count: 1 + r.Int64N(6)})
	}
	for c := range p.Classes {
		switch r.IntN(6) {
		case 0:
			p.Classes[c].PerNode = 1
		case 1:
			if other := r.IntN(len(p.Classes)); other != c && len(p.Classes[c].Conflicts)+len(p.Classes[other].Conflicts) == 0 {
				p.Classes[c].Conflicts, p.Classes[other].Conflicts = []model.ClassID{model.ClassID(other)}, []model.ClassID{model.ClassID(c)}
			}
		}
	}
	all := model.NewBits(3)
	for g := range 3 {
		all.Set(g)
	}
	p.Options = nil
	for range 1 + r.IntN(6) {
		p.Options = append(p.Options, model.Option{
			Room: []int64{60 + r.Int64N(200), 60 + r.Int64N(200)}, Cost: 50 + r.Int64N(150), Supply: model.NoSupply, Floor: -1, Admits: all, Soft: model.NewBits(3),
		})
	}
	return p
}

// right checks an answer against the problem: every pod once, within room, as those beside it allow.
func right(t *testing.T, p *model.Problem, s model.Solution) {
	t.Helper()
	seen := slices.Clone(s.Unplaced)
	sits := func(room []int64, admits model.Bits, present []model.Presence, items []model.Item, n int64) {
		load := make([]int64, p.Dims)
		p.Load(load, items)
		require.True(t, model.Fits(room, load))
		for i, it := range items {
			require.True(t, admits.Has(int(p.Classes[it.Class].Group)))
			require.LessOrEqual(t, it.N, p.Joining(items[:i], present, it.Class))
			seen[it.Class] += it.N * n
		}
	}
	require.Len(t, s.Bins, len(p.Bins))
	for i, items := range s.Bins {
		sits(p.Bins[i].Room, p.Bins[i].Admits, p.Bins[i].Present, items, 1)
	}
	for _, node := range s.Nodes {
		sits(p.Options[node.Option].Room, p.Options[node.Option].Admits, nil, node.Items, node.N)
	}
	for c := range p.Classes {
		require.Equal(t, p.Classes[c].Count, seen[c])
	}
}

// An answer has a place for every pod, or says that it is left out.
func TestAnswersBesideBinsAreComplete(t *testing.T) {
	for seed := range uint64(200) {
		p := beside(rand.New(rand.NewPCG(seed, 22)))
		right(t, p, Search(p, Params{}).Solution)
	}
}
