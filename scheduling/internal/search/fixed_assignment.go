package search

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// lodged is where the lodgers of a trial are, by bin that is near.
func (x *Trial) lodged() [][]model.Item {
	out := make([][]model.Item, len(x.Near))
	for i, list := range x.FixedAssignment.Items {
		for _, it := range list {
			out[i] = append(out[i], model.Item{Class: x.FixedParts[it.Class], N: it.N})
		}
	}
	return out
}

// machinesFor looks for machines for the sites of a trial.
func (x *Trial) machinesFor(params pack.Params) pack.Outcome {
	params.Near = x.Near != nil
	if x.FixedAssignment != nil && x.FixedAssignment.Items != nil {
		params.Housed = x.lodged()
	}
	out := pack.Search(x.Model, params)
	if x.FixedAssignment != nil && x.FixedAssignment.Items == nil && x.allLodge(out.Solution) {
		x.FixedAssignment.Learn(x.FixedParts, out.Solution)
	}
	return out
}

// allLodge reports whether all pods that some bin takes are on bins in a solution.
func (x *Trial) allLodge(s model.Solution) bool {
	left := make([]int64, len(x.Parts))
	for _, c := range x.FixedParts {
		left[c] = x.Parts[c].Count
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
func (x *Trial) unlodged() *model.Problem {
	if x.FixedAssignment == nil || x.FixedAssignment.Items == nil {
		return x.Model
	}
	p := *x.Model
	p.Classes = slices.Clone(p.Classes)
	for _, c := range x.FixedParts {
		p.Classes[c].Count = 0
	}
	return &p
}

// furnish hands the engine the bins that a trial has done without.
func (x *Trial) furnish() {
	if x.Near != nil && x.Model.Bins == nil {
		x.SeatNear(x.ties.Locations.Compiler, x.ties.present)
	}
}

// keepLodgers finds the classes that have nothing to gain from other sites: where no node takes any of
// those that are bought for, the others are on nodes, no wish says that they should be elsewhere,
// and none of their rules concerns pods that are bought for. They stay where they are. Work goes
// into the pods that are bought for, by their share.
func (s *domainSearch) keepLodgers() {
	s.fixed = make([]bool, len(s.planner.Classes))
	x := &s.best
	if x.FixedAssignment == nil || x.FixedAssignment.Items == nil || x.bind < x.PodCount() {
		return
	}
	bought := make([]bool, len(s.fixed))
	for i := range x.Parts {
		if p := &x.Parts[i]; p.Pinned && !slices.Contains(x.FixedParts, model.ClassID(i)) {
			class := s.classOf[p.Unit]
			if slices.ContainsFunc(s.planner.Classes[class].Sites, func(x topology.Site) bool { return len(x.Bins) > 0 }) {
				return
			}
			bought[class] = true
		}
	}
	for i := range s.fixed {
		s.fixed[i] = !bought[i] && s.wishless(i)
	}
	stirred := make([]bool, len(s.Rules)) // rules that concern others
	for again := true; again; {
		again = false
		for i := range s.planner.Classes {
			links := s.planner.Classes[i].Links
			if s.fixed[i] && slices.ContainsFunc(links, func(l topology.Link) bool { return stirred[l.Rule] }) {
				s.fixed[i] = false
			}
			if s.fixed[i] {
				continue
			}
			for _, l := range links {
				again = again || !stirred[l.Rule]
				stirred[l.Rule] = true
			}
		}
	}
	s.left = max(s.left/x.PodCount()*x.onLaunches(), min(s.left, seekLeast))
}

// wishless reports whether nothing but rules that must hold says where pods of a class go.
func (s *domainSearch) wishless(class int) bool {
	c := &s.planner.Classes[class]
	return !slices.ContainsFunc(c.Links, func(l topology.Link) bool { return s.planner.Rules[l.Rule].Weight > 0 }) &&
		!slices.ContainsFunc(c.Sites, func(x topology.Site) bool { return x.Penalty > 0 })
}
