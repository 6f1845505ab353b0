package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods that tolerate a PreferNoSchedule taint only for lack of another machine are placed in a pass after the
// pods without that taint, and each pass is packed by itself. Pods of the earlier pass that tolerate the taint
// explicitly may share machines with them.

// tierMerge repacks the machines of two passes of one weight together.
type tierMerge struct {
	s      *search
	a      *attempt
	values []float64 // by class
	random *rand.Rand
}

// mergeTiers merges each pair of passes of the same weight that differ in taints only.
func mergeTiers(s *search, a *attempt, values []float64) {
	x := &tierMerge{s: s, a: a, values: values, random: rand.New(rand.NewPCG(0x706c696d, 0x736f6c6c))}
	joined := false
	for soft, pass := range s.p.Passes {
		for hard, other := range s.p.Passes {
			if pass.Soft && !other.Soft && other.Weight == pass.Weight && len(a.bought[soft]) > 0 && len(a.bought[hard]) > 0 && !s.overdue() {
				x.merge(hard, soft)
				joined = true
			}
		}
	}
	if joined {
		a.evaluate(s.p, s.levels)
	}
}

// merge packs the machines of two passes together. Pods that were kept off a taint stay off it; a group with
// pods on both sides is left alone.
func (x *tierMerge) merge(hard, soft int) {
	s, a := x.s, x.a
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
		if tolerates(s.p, node, func(int) bool { return true }) {
			at = soft
		}
		a.bought[at] = append(a.bought[at], *node)
	}
	nodes = slices.DeleteFunc(nodes, func(node model.Node) bool {
		apart := tolerates(s.p, &node, spared.Has)
		if apart {
			keep(&node)
		}
		return apart
	})
	nodes = s.improvePass(m, nodes, x.values, a.budget, x.random, 0)
	for i := range nodes {
		keep(&nodes[i])
	}
}

// tolerates reports whether a machine has a PreferNoSchedule taint that some of its pods, of the given groups,
// does not tolerate.
func tolerates(p *model.Problem, node *model.Node, of func(group int) bool) bool {
	return slices.ContainsFunc(node.Items, func(it model.Item) bool {
		g := int(p.Classes[it.Class].Group)
		return of(g) && p.Options[node.Option].Soft.Has(g)
	})
}
