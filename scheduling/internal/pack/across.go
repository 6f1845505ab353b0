package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods that have to put up with a taint get machines after those that need not, which are
// packed as if there were no others. Some of these may as well be on machines that are
// bought for the former: those to whom the taint means nothing.

// joinPasses packs the machines of the two passes of each weight together.
func (s *search) joinPasses(a *attempt, values []float64) {
	random := rand.New(rand.NewPCG(0x706c696d, 0x736f6c6c))
	joined := false
	for soft, pass := range s.p.Passes {
		for hard, other := range s.p.Passes {
			if pass.Soft && !other.Soft && other.Weight == pass.Weight && len(a.bought[soft]) > 0 && len(a.bought[hard]) > 0 && !s.overdue() {
				s.joinPass(a, hard, soft, values, random)
				joined = true
			}
		}
	}
	if joined {
		a.evaluate(s.p, s.levels)
	}
}

// joinPass packs the machines of two passes together. Pods that were spared a taint are
// spared it still; groups of which others were not are left alone.
func (s *search) joinPass(a *attempt, hard, soft int, values []float64, random *rand.Rand) {
	spared := model.NewBits(s.p.Groups)
	nodes := append(model.Unbundle(a.bought[hard]), model.Unbundle(a.bought[soft])...)
	for i := range nodes {
		for _, it := range nodes[i].Items {
			if g := int(s.p.Classes[it.Class].Group); !s.p.Options[nodes[i].Option].Soft.Has(g) {
				spared.Set(g)
			}
		}
	}
	m := greedy.MarketFor(s.p, s.p.Passes[soft].Weight, func(option *model.Option, groups model.Bits) {
		kept := option.Soft.Clone()
		kept.And(spared)
		groups.AndNot(kept)
	})
	a.bought[hard], a.bought[soft] = nil, nil
	keep := func(node *model.Node) {
		at := hard
		if s.puttingUp(node, func(int) bool { return true }) {
			at = soft
		}
		a.bought[at] = append(a.bought[at], *node)
	}
	nodes = slices.DeleteFunc(nodes, func(node model.Node) bool {
		apart := s.puttingUp(&node, spared.Has)
		if apart {
			keep(&node)
		}
		return apart
	})
	nodes = s.improvePass(m, nodes, values, a.budget, random, 0)
	for i := range nodes {
		keep(&nodes[i])
	}
}

// puttingUp reports whether a machine has a taint that a pod on it, of certain groups, would
// rather avoid.
func (s *search) puttingUp(node *model.Node, of func(group int) bool) bool {
	return slices.ContainsFunc(node.Items, func(it model.Item) bool {
		g := int(s.p.Classes[it.Class].Group)
		return of(g) && s.p.Options[node.Option].Soft.Has(g)
	})
}
