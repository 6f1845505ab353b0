package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Plans of sites differ mostly in pods that no running node takes. Where nodes have room for all
// others, these can be on them as they were in another plan that has as many of each kind of
// them at the same sites, and machines are looked for without any nodes.

// lodging is the bins that parts could need of which some take each.
type lodging struct {
	crowds []crowd // of those who found it
	near   []int
	// items are, by bin that is near, who is there, as places among the lodgers; nil until it is
	// known that there is room for all of them.
	items [][]model.Item
}

// learn notes where the lodgers of a trial are, if all have a place.
func (x *lodging) learn(lodgers []model.ClassID, s model.Solution) {
	items := make([][]model.Item, len(s.Bins))
	for i, list := range s.Bins {
		for _, it := range list {
			at, found := slices.BinarySearch(lodgers, it.Class)
			if !found {
				return
			}
			items[i] = append(items[i], model.Item{Class: model.ClassID(at), N: it.N})
		}
	}
	x.items = items
}

// lodged is where the lodgers of a trial are, by bin that is near.
func (x *trial) lodged() [][]model.Item {
	out := make([][]model.Item, len(x.near))
	for i, list := range x.lodging.items {
		for _, it := range list {
			out[i] = append(out[i], model.Item{Class: x.lodgers[it.Class], N: it.N})
		}
	}
	return out
}

// machinesFor looks for machines for the sites of a trial.
func (x *trial) machinesFor(params pack.Params) pack.Outcome {
	params.Near = x.near != nil
	if x.lodging != nil && x.lodging.items != nil {
		params.Housed = x.lodged()
	}
	out := pack.Search(x.model, params)
	if x.lodging != nil && x.lodging.items == nil && x.allLodge(out.Solution) {
		x.lodging.learn(x.lodgers, out.Solution)
	}
	return out
}

// allLodge reports whether all pods that some bin takes are on bins in a solution.
func (x *trial) allLodge(s model.Solution) bool {
	left := make([]int64, len(x.parts))
	for _, c := range x.lodgers {
		left[c] = x.parts[c].count
	}
	for _, list := range s.Bins {
		for _, it := range list {
			left[it.Class] -= it.N
		}
	}
	return !slices.ContainsFunc(left, func(n int64) bool { return n != 0 })
}

// unlodged is the engine's problem of a trial, those left out of whom it is known where they are
// on bins.
func (x *trial) unlodged() *model.Problem {
	if x.lodging == nil || x.lodging.items == nil {
		return x.model
	}
	p := *x.model
	p.Classes = slices.Clone(p.Classes)
	for _, c := range x.lodgers {
		p.Classes[c].Count = 0
	}
	return &p
}

// furnish hands the engine the bins that a trial has done without.
func (x *trial) furnish() {
	if x.near != nil && x.model.Bins == nil {
		x.seatNear(x.ties.land.compiler, x.ties.present)
	}
}

// keepLodgers finds the classes that have nothing to gain from other sites: where no node takes any of
// those that are bought for, the others are on nodes, no wish says that they should be elsewhere,
// and none of their rules concerns pods that are bought for. They stay where they are. Work goes
// into the pods that are bought for, by their share.
func (s *seeker) keepLodgers() {
	s.lodged = make([]bool, len(s.planner.Classes))
	x := &s.best
	if x.lodging == nil || x.lodging.items == nil || x.bind < x.podCount() {
		return
	}
	bought := make([]bool, len(s.lodged))
	for i := range x.parts {
		if p := &x.parts[i]; p.pinned && !slices.Contains(x.lodgers, model.ClassID(i)) {
			class := s.classOf[p.unit]
			if slices.ContainsFunc(s.planner.Classes[class].Sites, func(x topology.Site) bool { return len(x.Bins) > 0 }) {
				return
			}
			bought[class] = true
		}
	}
	for i := range s.lodged {
		s.lodged[i] = !bought[i] && s.wishless(i)
	}
	stirred := make([]bool, len(s.rules)) // rules that concern others
	for again := true; again; {
		again = false
		for i := range s.planner.Classes {
			links := s.planner.Classes[i].Links
			if s.lodged[i] && slices.ContainsFunc(links, func(l topology.Link) bool { return stirred[l.Rule] }) {
				s.lodged[i] = false
			}
			if s.lodged[i] {
				continue
			}
			for _, l := range links {
				again = again || !stirred[l.Rule]
				stirred[l.Rule] = true
			}
		}
	}
	s.left = max(s.left/x.podCount()*x.onLaunches(), min(s.left, seekLeast))
}

// wishless reports whether nothing but rules that must hold says where pods of a class go.
func (s *seeker) wishless(class int) bool {
	c := &s.planner.Classes[class]
	return !slices.ContainsFunc(c.Links, func(l topology.Link) bool { return s.planner.Rules[l.Rule].Weight > 0 }) &&
		!slices.ContainsFunc(c.Sites, func(x topology.Site) bool { return x.Penalty > 0 })
}
