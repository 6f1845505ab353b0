package disruption

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// assemble is the plan with its verdicts, warnings and sums.
func assemble(r *run) *ConsolidationPlan {
	plan := &ConsolidationPlan{Steps: r.steps, Nodes: verdicts(r), Pending: r.state.pending, Room: r.state.room, RoomPending: r.state.roomPending, Warnings: slices.Concat(r.warnings, provisioning.IdleNodePools(r.state.problem), inputWarnings(r.state))}
	slices.SortStableFunc(plan.Warnings, func(a, b scheduling.Warning) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	plan.Warnings = append([]scheduling.Warning{}, slices.Compact(plan.Warnings)...)
	plan.Steps = append([]Step{}, plan.Steps...)
	plan.Summary = summaryOf(r)
	return plan
}

// inputWarnings are warnings about parts of the input that have no effect: pods on nodes that are not in it, and
// fields of pools.
func inputWarnings(f *state) []scheduling.Warning {
	out := validate.PoolWarnings(f.problem)
	for _, pod := range f.problem.Running {
		if f.byName[pod.Spec.NodeName] == nil && !lifecycle.Ended(pod) {
			out = append(out, scheduling.Warning{Object: podspec.PodName(pod), Message: validate.NodeMissing(pod.Spec.NodeName)})
		}
	}
	return out
}

// cordon are the nodes that steps drain and that take in no pods before: see [ConsolidationPlan.Cordon].
func cordon(steps []Step) []string {
	open, out := map[string]bool{}, []string{}
	for i := range steps {
		for _, name := range steps[i].Drain {
			if !open[name] {
				out = append(out, name)
			}
		}
		for _, l := range steps[i].Launches {
			open[l.Name] = true // it cannot be cordoned before it exists
		}
		for _, e := range steps[i].Evictions {
			open[e.To] = true
		}
	}
	slices.Sort(out)
	return out
}

// summaryOf are the sums of the plan.
func summaryOf(r *run) ConsolidationSummary {
	after := r.state.tally()
	s := ConsolidationSummary{
		PricePerHourBefore: r.before.machinePrice, PricePerHourAfter: after.machinePrice, NodesBefore: r.before.nodes, NodesAfter: after.nodes,
		UnpricedNodes: r.before.unpriced, Status: scheduling.StatusComplete,
		Catalog: r.state.problem.Catalog.Origin(),
	}
	if s.NodeOverheadPerHour = r.state.planner.Policy.NodeOverhead; r.state.prices().ExceedMachines() {
		s.ExpectedPerHourBefore, s.ExpectedPerHourAfter = r.before.price, after.price
	}
	var saved offerings.Price
	for i := range r.steps {
		step := &r.steps[i]
		s.PodsMoved += step.PodsMoved()
		s.Launches += len(step.Launches)
		s.DisruptionCost += step.DisruptionCost
		saved = offerings.Sum(saved, step.SavingPerHour)
		s.Frontier = append(s.Frontier, Point{Steps: i + 1, SavingPerHour: saved, PodsMoved: s.PodsMoved, DisruptionCost: s.DisruptionCost})
	}
	if found := r.findings; found != nil {
		if s.LowerBoundPerHour = found.bound; found.target != nil {
			s.Certificate, s.LeftOut = found.target.certificate, found.target.leftOut
		}
		if least := found.rebuilt; least != nil {
			if least.price > after.price {
				least = &rebuildTarget{tally: after, composition: compositionOf(r.state, func(s *candidate) bool { return !s.removed }, nil)} // it holds the same pods
			}
			s.Rebuilt = rebuiltCluster(r.state, least)
			if found.withoutRoom != nil {
				room := max(0, least.price-*found.withoutRoom)
				s.Rebuilt.RoomPerHour = &room
			}
		}
		r.timedOut = r.timedOut || found.timedOut
	}
	if s.LowerBoundPerHour > 0 {
		s.Gap = float64(after.price-s.LowerBoundPerHour) / float64(s.LowerBoundPerHour)
	}
	switch {
	case r.timedOut:
		s.Status = scheduling.StatusDeadline
	case s.LowerBoundPerHour > 0 && after.price == s.LowerBoundPerHour:
		s.Status = scheduling.StatusOptimal
	}
	return s
}

// rebuiltCluster is a rebuilt cluster as in a summary.
func rebuiltCluster(f *state, t *rebuildTarget) *Rebuilt {
	out := &Rebuilt{Nodes: t.nodes, PricePerHour: t.machinePrice, Composition: t.composition, LeftOut: t.unplaced}
	if f.prices().ExceedMachines() {
		out.ExpectedPerHour = t.price
		return out
	}
	out.Composition = slices.Clone(t.composition)
	for i := range out.Composition {
		out.Composition[i].ExpectedPerHour = 0
	}
	return out
}
