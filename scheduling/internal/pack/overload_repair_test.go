package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// Pods taken off full machines find room there again if others are moved about, and never in any way
// that breaks a rule; in vain, nothing changes.
func TestSqueezeIn(t *testing.T) {
	fits := 0
	for seed := range uint64(200) {
		p := modeltest.Random(seed)
		out := Search(p, Params{})
		s := newSearch(p, Params{})
		m := s.markets[0]
		nodes := slices.DeleteFunc(model.Unbundle(out.Solution.Nodes), func(n model.Node) bool { return passOf(s.p, s.markets, &n) > 0 })
		remaining := make([]int64, len(p.Classes))
		for i := range nodes {
			if at := len(nodes[i].Items) - 1; at > 0 && i%2 == 0 {
				it := nodes[i].Items[at]
				remaining[it.Class] += it.N
				nodes[i].Items = nodes[i].Items[:at:at]
			}
		}
		before, left := cloneNodes(nodes), slices.Clone(remaining)
		classes := slices.Clone(s.lns.heldBy(out.Solution.Nodes, everyNode(out.Solution.Nodes)))
		after := s.lns.insertByRepair(m, nodes, classes, remaining, rand.New(rand.NewPCG(seed, 1)))
		require.Equal(t, before, nodes, "seed %d", seed)
		if after == nil {
			assert.Equal(t, left, remaining, "seed %d", seed)
			continue
		}
		fits++
		assert.Zero(t, total(remaining), "seed %d", seed)
		for i := range after {
			load := make([]int64, p.Dims)
			p.Load(load, after[i].Items)
			assert.True(t, model.Fits(p.Options[after[i].Option].Room, load), "seed %d", seed)
		}
	}
	assert.Positive(t, fits)
}

func everyNode(nodes []model.Node) []int {
	all := make([]int, len(nodes))
	for i := range all {
		all[i] = i
	}
	return all
}
