package lint

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

const (
	mostTried   = 8     // plans for each kind of change
	leastSaving = 0.002 // the smallest saving to report, as a share of the price
)

// trials plan all pods of a cluster on new nodes, with one more change each time. A change that saves something is kept:
// the next ones are tried on top of it, so that all advice of one run holds together and its savings add up.
type trials struct {
	// policy is the user's, with which a saving must be found that the least effort has found.
	policy scheduling.Policy
	// problem has the changes that are kept, and plan is its plan with the least effort.
	problem scheduling.Problem
	plan    *scheduling.Plan
	// confirmed is the plan of the problem with the user's policy; nil where no saving has needed it yet.
	confirmed *scheduling.Plan
}

// planned returns the trials of the cluster, none of which has begun; nil where there is no pod to plan.
func (s *Subject) planned(ctx context.Context) (*trials, error) {
	problem := s.Cluster.RebuildProblem(s.Planner)
	problem.Pods = slices.Concat(problem.Pods, s.problem().Pods)
	if len(problem.Pods) == 0 {
		return nil, nil //nolint:nilnil // a cluster without pods is no error
	}
	t := &trials{policy: s.Planner.Policy}
	t.policy.NoReasons, t.policy.Placement = true, scheduling.PlacementPinned
	plan, err := t.sketch(ctx, problem)
	if err != nil {
		return nil, err
	}
	t.problem, t.plan = problem, plan
	return t, nil
}

// sketch plans a problem with the least effort.
func (t *trials) sketch(ctx context.Context, p scheduling.Problem) (*scheduling.Plan, error) {
	policy := t.policy
	policy.Effort = scheduling.EffortFast
	return provisioning.Planner{Policy: policy}.Plan(ctx, p)
}

// difference is the saving of a change: how much less the plan with it costs per hour than the plan without it; 0 where that is
// too small to report, or where fewer pods have a place. It is proven where the plan with the change costs less than the lower
// bound without it; a smaller one may be due to the search, because some plan without the change may cost as little. The plan
// is that with the change; nil if the saving is 0.
type difference struct {
	perHour offerings.Price
	proven  bool
	plan    *scheduling.Plan
}

// try plans a changed problem and returns its saving. The change is kept if the saving is not 0.
func (t *trials) try(ctx context.Context, changed scheduling.Problem) (difference, error) {
	plan, err := t.sketch(ctx, changed)
	if err != nil || saving(t.plan, plan) == 0 {
		return difference{}, err
	}
	return t.confirm(ctx, changed, plan)
}

// confirm plans a changed problem, whose plan with the least effort saves something, with the user's policy, and returns its
// saving, as [trials.try] does. A search with little effort may find the one plan by luck and miss the other.
func (t *trials) confirm(ctx context.Context, changed scheduling.Problem, plan *scheduling.Plan) (difference, error) {
	before, after := t.confirmed, plan
	var err error
	if t.policy.Effort == scheduling.EffortFast {
		before = t.plan
	} else {
		if before == nil {
			if before, err = (provisioning.Planner{Policy: t.policy}).Plan(ctx, t.problem); err != nil {
				return difference{}, err
			}
			t.confirmed = before
		}
		if after, err = (provisioning.Planner{Policy: t.policy}).Plan(ctx, changed); err != nil {
			return difference{}, err
		}
	}
	saved := saving(before, after)
	if saved == 0 {
		return difference{}, nil
	}
	t.problem, t.plan, t.confirmed = changed, plan, after
	return difference{saved, price(after) < before.Summary.LowerBoundPerHour, after}, nil
}

// price returns the expected price per hour of a plan.
func price(plan *scheduling.Plan) offerings.Price {
	return cmp.Or(plan.Summary.ExpectedPerHour, plan.Summary.PricePerHour)
}

// saving is the difference in price per hour of two plans, 0 where that is too small to report, or where fewer pods have a
// place.
func saving(before, after *scheduling.Plan) offerings.Price {
	saved := price(before) - price(after)
	if len(after.Unschedulable) > len(before.Unschedulable) || saved.USD() < leastSaving*price(before).USD() {
		return 0
	}
	return saved
}
