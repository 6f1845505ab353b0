package verify

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// bindAll lets the pods of the judge bind one by one, and tells which cannot. Nodes that are
// being removed already, for whatever reason, are looked at as there and as gone, since
// nobody knows which comes first. What is to be looked at once all have bound is told how
// things are with all of them there.
func (g *clusterState) bindAll(booked []binding.Pending, look func(*binding.Outcome)) []binding.Unbound {
	o := g.topology.Bind(booked)
	if look != nil {
		look(o)
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
			ok := g.mayPass(u.By, late)
			if ok {
				late = append(late, u.Pending)
			}
			return ok
		})
	}
	return waiting
}

// withoutLeaving tells which pods cannot bind where nodes that are being removed are gone.
func (g *clusterState) withoutLeaving(booked []binding.Pending) []binding.Unbound {
	var gone []*snapshot.Node
	for _, s := range g.there {
		if s.node.Leaves() {
			gone = append(gone, g.topology.Named[s.node.Name])
		}
	}
	for _, h := range gone {
		g.topology.Leave(h)
	}
	o := g.topology.Bind(slices.DeleteFunc(slices.Clone(booked), func(b binding.Pending) bool { return !g.topology.Nodes[b.Node] }))
	o.Undo()
	for _, h := range gone {
		g.topology.Enter(h)
	}
	return o.Waiting
}

// mayPass reports whether the obstacle may be gone by the time: there are pods on their way,
// which wait or leave their nodes already, and where they land nobody knows. They may fill
// places up that are emptier, or be the company that is asked for, as may those that land late because of them.
func (g *clusterState) mayPass(o binding.Obstacle, late []binding.Pending) bool {
	missing := 1
	switch o.Rule {
	case binding.Spread:
		missing = o.Count - o.Least - o.Skew
	case binding.Affinity:
	default:
		return false
	}
	if !o.Has {
		return false
	}
	for _, t := range g.waiting {
		if o.Pods.Has(t.Face) {
			missing--
		}
	}
	for _, b := range late {
		if o.Rule == binding.Affinity && o.Pods.Has(b.Pod.Face) && o.About(b.Node) {
			missing--
		}
	}
	for _, k := range g.topology.Labelled[binding.LabelOf(o.Pods)] {
		if !o.Pods.Has(k.Face) {
			continue
		}
		for h, n := range k.On {
			if s := g.there[h.Name]; s != nil && g.topology.Nodes[h] && s.node.Leaves() {
				missing -= n
			}
		}
	}
	return missing <= 0
}
