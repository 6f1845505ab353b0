package disruption

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// tally is what the nodes of pools come to at some time.
type tally struct {
	price, bare     offerings.Price // as in subject
	nodes, unpriced int
}

// tally adds up the nodes that are there.
func (f *frame) tally() tally {
	var t tally
	for _, s := range f.subjects {
		switch {
		case s.gone || s.pool == nil:
		case !s.priced:
			t.unpriced++
		default:
			t.nodes++
			t.price, t.bare = clampPrice(t.price, s.price), clampPrice(t.bare, s.bare)
		}
	}
	return t
}

// plan puts together what was found.
func (r *run) plan() *Plan {
	plan := &Plan{Steps: r.steps, Nodes: r.verdicts(), Warnings: r.warnings}
	if plan.Steps == nil {
		plan.Steps = []Step{}
	}
	slices.SortStableFunc(plan.Warnings, func(a, b scheduling.Warning) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	plan.Warnings = slices.Compact(plan.Warnings)
	if plan.Warnings == nil {
		plan.Warnings = []scheduling.Warning{}
	}
	plan.Summary = r.summary()
	return plan
}

// summary adds the plan up.
func (r *run) summary() Summary {
	after := r.frame.tally()
	s := Summary{
		PricePerHourBefore: r.before.bare, PricePerHourAfter: after.bare, NodesBefore: r.before.nodes, NodesAfter: after.nodes,
		UnpricedNodes: r.before.unpriced, Status: scheduling.StatusComplete,
		Catalog: r.frame.problem.Catalog.Origin(),
	}
	solver := &r.frame.planner.Solver
	if s.NodeOverheadPerHour = solver.NodeOverhead; solver.NodeOverhead > 0 || solver.Interruption != (scheduling.Interruption{}) {
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
		s.LowerBoundPerHour, s.Certificate, s.LeftOut = found.bound, found.certificate, found.leftOut
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
