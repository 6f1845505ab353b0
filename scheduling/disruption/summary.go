package disruption

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// tally is what the nodes of pools come to at some time.
type tally struct {
	price, paid     offerings.Price // as in candidate
	nodes, unpriced int
}

// tally adds up the nodes that are there.
func (f *state) tally() tally {
	var t tally
	for _, s := range f.nodes {
		if !s.gone {
			t.add(s)
		}
	}
	return t
}

// expects reports whether nodes are expected to cost something beside their machines.
func (f *state) expects() bool {
	return f.planner.Policy.NodeOverhead > 0 || f.planner.Policy.Interruption != (scheduling.Interruption{})
}

// add counts a node, unless no pool owns it.
func (t *tally) add(s *candidate) {
	switch {
	case s.pool == nil:
	case !s.priced:
		t.unpriced++
	default:
		t.nodes++
		t.price, t.paid = clampPrice(t.price, s.price), clampPrice(t.paid, s.paid)
	}
}

// plan puts together what was found.
func (r *run) plan() *Plan {
	plan := &Plan{Steps: r.steps, Nodes: r.verdicts(), Warnings: append(r.warnings, provisioning.IdleNodePools(r.state.problem)...)}
	slices.SortStableFunc(plan.Warnings, func(a, b scheduling.Warning) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	plan.Warnings = append([]scheduling.Warning{}, slices.Compact(plan.Warnings)...)
	plan.Steps = append([]Step{}, plan.Steps...)
	plan.Summary = r.summary(plan.Nodes)
	return plan
}

// summary adds the plan up.
func (r *run) summary(verdicts []Verdict) Summary {
	after := r.state.tally()
	s := Summary{
		PricePerHourBefore: r.before.paid, PricePerHourAfter: after.paid, NodesBefore: r.before.nodes, NodesAfter: after.nodes,
		UnpricedNodes: r.before.unpriced, Status: scheduling.StatusComplete,
		Catalog: r.state.problem.Catalog.Origin(),
	}
	if s.NodeOverheadPerHour = r.state.planner.Policy.NodeOverhead; r.state.expects() {
		s.ExpectedPerHourBefore, s.ExpectedPerHourAfter = r.before.price, after.price
	}
	var saved offerings.Price
	for i := range r.steps {
		step := &r.steps[i]
		s.PodsMoved += len(step.Evictions)
		s.Launches += len(step.Launches)
		s.DisruptionCost += step.DisruptionCost
		saved = clampPrice(saved, step.SavingPerHour)
		s.Frontier = append(s.Frontier, Point{Steps: i + 1, SavingPerHour: saved, PodsMoved: s.PodsMoved, DisruptionCost: s.DisruptionCost})
	}
	if found := r.findings; found != nil {
		if s.LowerBoundPerHour = found.bound; found.anew != nil {
			s.Certificate, s.LeftOut = found.anew.certificate, found.anew.leftOut
		}
		if least := found.rebuilt; least != nil {
			if least.price > after.price {
				least = &target{tally: after} // which holds the same pods
			}
			s.Rebuilt = r.state.rebuilt(least)
			s.Kept = r.kept(after.price-least.price, verdicts)
		}
		r.late = r.late || found.late
	}
	if s.LowerBoundPerHour > 0 {
		s.Gap = float64(after.price-s.LowerBoundPerHour) / float64(s.LowerBoundPerHour)
	}
	switch {
	case r.late:
		s.Status = scheduling.StatusDeadline
	case s.LowerBoundPerHour > 0 && after.price == s.LowerBoundPerHour:
		s.Status = scheduling.StatusOptimal
	}
	return s
}
