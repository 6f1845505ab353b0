package disruption

import (
	"cmp"
	"context"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// findRebuilt looks for the cheapest cluster for the same pods without the nodes of today, and, unless the effort is
// least, for a higher bound.
func findRebuilt(ctx context.Context, r *run) error {
	found := r.findings
	if found == nil || found.target == nil || outOfTime(ctx) {
		return cancelled(ctx)
	}
	f := r.state
	targets, err := rebuilds(ctx, f, f.disruptable, found.target)
	for _, t := range targets {
		if t.bound > found.target.bound {
			found.target, found.bound = t, t.bound
			r.capBound()
		}
	}
	if all := rebuildable(f); err == nil && len(all) != len(f.disruptable) {
		var more []*rebuildTarget
		more, err = rebuilds(ctx, f, all, nil)
		targets = append(targets, more...)
	}
	if found.rebuilt = cheapest(targets, (*rebuildTarget).sums); err == nil {
		found.withoutRoom, err = withoutRoom(ctx, f)
	}
	return r.noteDeadline(ctx, err)
}

// alternative is the cheapest cluster of the alternative NodePools that is found with least effort, as
// [ConsolidationSummary.Rebuilt] is one of the cluster's own; nil if there are no such pools, if no node of a pool has a price, or
// after the deadline.
func (p Planner) alternative(ctx context.Context, c Cluster) (*Rebuilt, error) {
	if len(c.Alternative) == 0 || outOfTime(ctx) {
		return nil, nil //nolint:nilnil // no comparison, or no time for it, is no error
	}
	f := newState(p, &c)
	all := rebuildable(f)
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // no node of a pool has a price
	}
	other := *f.problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := solveRebuild(ctx, f, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return rebuiltCluster(f, t), nil
}

// withoutRoom is the price of the cluster rebuilt from scratch without the room of virtual pods; nil without such room, and after
// the deadline.
func withoutRoom(ctx context.Context, f *state) (*offerings.Price, error) {
	if len(f.room) == 0 || outOfTime(ctx) {
		return nil, cancelled(ctx)
	}
	bare := *f
	bare.room = nil
	targets, err := rebuilds(ctx, &bare, rebuildable(f), nil)
	if err != nil || outOfTime(ctx) {
		return nil, unlessDeadline(ctx, err)
	}
	return &cheapest(targets, (*rebuildTarget).sums).price, nil
}

// rebuilds are the clusters that are found from scratch with the given nodes gone, one for each effort up to that of the
// policy, the least effort first. fast is that of the least effort, if it is known. After the deadline there may be fewer, but the first.
func rebuilds(ctx context.Context, f *state, gone map[string]bool, fast *rebuildTarget) (out []*rebuildTarget, err error) {
	for _, effort := range instance.EffortsUpTo(&f.planner.Policy) {
		t := fast
		if effort != scheduling.EffortFast || t == nil {
			if len(out) > 0 && outOfTime(ctx) {
				return out, cancelled(ctx)
			}
			if t, err = solveRebuild(ctx, f, effort, gone); err != nil {
				return out, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// Rebuild plans the pods of a problem as the cluster of [ConsolidationSummary.Rebuilt] is planned, so that their prices compare: pods
// run where they are planned ([scheduling.PlacementPinned]), and of the plans of all efforts up to that of the policy it is the
// cheapest of those that leave out the fewest pods. Errors and deadlines are as in [provisioning.Planner.Plan].
func (p Planner) Rebuild(ctx context.Context, problem scheduling.Problem) (*scheduling.Plan, error) {
	solver := provisioning.Planner{Policy: p.Policy, Observer: p.Observer}
	solver.Policy.Placement = scheduling.PlacementPinned
	var plans []*scheduling.Plan
	for _, effort := range instance.EffortsUpTo(&p.Policy) {
		if len(plans) > 0 && outOfTime(ctx) {
			break
		}
		solver.Policy.Effort = effort
		plan, err := solver.Plan(ctx, problem)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return cheapest(plans, func(plan *scheduling.Plan) (int, offerings.Price) {
		return len(plan.Unschedulable), max(plan.Summary.PricePerHour, plan.Summary.ExpectedPerHour)
	}), nil
}

// cheapest is the first of some clusters that costs the least of those with the fewest pods left out; nil for none. It is not
// always that of the most effort, because more preferences of pods and higher weights of NodePools come before the price.
func cheapest[T any](list []*T, sums func(*T) (leftOut int, price offerings.Price)) (best *T) {
	for _, t := range list {
		if best == nil {
			best = t
			continue
		}
		left, price := sums(t)
		least, cost := sums(best)
		if cmp.Or(cmp.Compare(left, least), cmp.Compare(price, cost)) < 0 {
			best = t
		}
	}
	return best
}
