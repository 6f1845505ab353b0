package steps

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// bindAll binds the pods one by one, and returns the pods that cannot bind. Nodes that are being removed already are tried
// both as existing and as gone, because they may go before or after. inspect, if not nil, is called once, when the pods have
// bound beside these nodes. The topology is as before in the end.
func (g *clusterState) bindAll(booked []binding.Pending, inspect func(*binding.Outcome)) []binding.Unbound {
	o := g.topology.Bind(booked)
	if inspect != nil {
		inspect(o)
	}
	o.Undo()
	var late []binding.Pending
	waiting := o.Waiting
	if len(waiting) > 0 {
		if rest := g.withoutLeaving(booked); len(rest) < len(waiting) {
			waiting = rest
		}
	}
	for before := -1; before < len(late); {
		before = len(late)
		waiting = slices.DeleteFunc(waiting, func(u binding.Unbound) bool {
			ok := g.mayResolve(u.By, late)
			if ok {
				late = append(late, u.Pending)
			}
			return ok
		})
	}
	return waiting
}

// withoutLeaving returns the pods that cannot bind once nodes that are being removed are gone.
func (g *clusterState) withoutLeaving(booked []binding.Pending) []binding.Unbound {
	var gone []*snapshot.Node
	for _, s := range g.nodes {
		if s.node.Leaves() {
			gone = append(gone, g.topology.Named[s.node.Name])
		}
	}
	for _, h := range gone {
		g.topology.RemoveNode(h)
	}
	o := g.topology.Bind(slices.DeleteFunc(slices.Clone(booked), func(b binding.Pending) bool { return !g.topology.Nodes[b.Node] }))
	o.Undo()
	for _, h := range gone {
		g.topology.AddNode(h)
	}
	return o.Waiting
}

// mayResolve reports whether the term may admit the pod once pods have bound whose nodes are not known yet: pending pods,
// pods of nodes that are being removed, and the pods in late, which bind only after these. They may fill the emptiest
// domain of a spread, or be the pods that an affinity requires.
func (g *clusterState) mayResolve(o binding.Obstacle, late []binding.Pending) bool {
	missing := 1
	switch o.Rule {
	case rule.TopologySpread:
		missing = o.Count - o.Least - o.Skew
	case rule.PodAffinity:
	default:
		return false
	}
	if !o.Has {
		return false
	}
	for _, t := range g.state.Pods {
		if o.Pods.Has(t.Identity) {
			missing--
		}
	}
	for _, b := range late {
		if o.Rule == rule.PodAffinity && o.Pods.Has(b.Pod.Identity) && o.About(b.Node) {
			missing--
		}
	}
	for _, k := range g.topology.Labelled[binding.LabelOf(o.Pods)] {
		if !o.Pods.Has(k.Identity) {
			continue
		}
		for h, n := range k.On {
			if s := g.nodes[h.Name]; s != nil && g.topology.Nodes[h] && s.node.Leaves() {
				missing -= n
			}
		}
	}
	return missing <= 0
}
