package disruption

import (
	"context"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// findRebuilt looks for the cheapest cluster for the same pods without the nodes of today, and, unless the effort is
// least, for a higher bound.
func findRebuilt(ctx context.Context, r *run) error {
	found := r.findings
	if found == nil || found.target == nil || outOfTime(ctx) {
		return cancelled(ctx)
	}
	cheapest := found.target
	if !r.state.fast() {
		t, err := solveRebuild(ctx, r.state, r.state.planner.Policy.Effort, r.state.disruptable)
		if err != nil {
			return r.noteDeadline(ctx, err)
		}
		if t.bound > found.target.bound {
			found.target, found.bound = t, t.bound
			r.capBound()
		}
		if t.price < cheapest.price {
			cheapest = t
		}
	}
	all := rebuildable(r.state)
	if len(all) == len(r.state.disruptable) {
		found.rebuilt = cheapest
		return nil
	}
	var err error
	found.rebuilt, err = solveRebuild(ctx, r.state, r.state.planner.Policy.Effort, all)
	return r.noteDeadline(ctx, err)
}

// alternative is the cheapest cluster of the alternative NodePools that is found with least effort, as
// [ConsolidationSummary.Rebuilt] is one of the cluster's own; nil if there are no such pools, if no node of a pool has a price, or
// after the deadline.
func (p Planner) alternative(ctx context.Context, c *Cluster) (*Rebuilt, error) {
	if len(c.Alternative) == 0 || outOfTime(ctx) {
		return nil, nil //nolint:nilnil // no comparison, or no time for it, is no error
	}
	f := newState(p, c)
	all := rebuildable(f)
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // no node of a pool has a price
	}
	other := c.Problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := solveRebuild(ctx, f, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return rebuiltCluster(f, t), nil
}
