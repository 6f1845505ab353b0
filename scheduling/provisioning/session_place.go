package provisioning

import (
	"context"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Place plans as [Session.Plan] does, with an effort of its own, and leaves out the parts that only people read: pods
// without a place have no reasons, no bound is proven, and the summary has only the numbers of pods. Without a bound a
// plan with few nodes is not improved by it, so that it may cost more. Equal pods may have each other's places, so that
// the plan may bind in more waves. Pods that the search leaves out are not planned once more without their preferences, so
// that Plan may place a pod which Place does not, e.g. because the pod's preferred instance types are too few for the
// minValues of the NodePool. Use it for many what-if questions.
func (x *Session) Place(ctx context.Context, effort scheduling.Effort) (*scheduling.Plan, error) {
	return x.place(ctx, effort, false)
}

// Sketch is [Session.Place] that ends with the first plan that it finds, which may cost some percent more and leave out
// pods for which Place finds a place. Use it to compare many changes, and plan the best of them again.
func (x *Session) Sketch(ctx context.Context) (*scheduling.Plan, error) {
	return x.place(ctx, scheduling.EffortFast, true)
}

func (x *Session) place(ctx context.Context, effort scheduling.Effort, brief bool) (*scheduling.Plan, error) {
	facts, err := x.facts()
	if err != nil {
		return nil, err
	}
	solver := x.solver
	solver.Effort = effort
	if err := validate.Validate(&solver); err != nil {
		return nil, err
	}
	facts.Solver, facts.Terse, facts.Brief = &solver, true, brief
	return solve(ctx, facts)
}

// list lists the pods that found no place, without reasons.
func list(c *instance.Instance, plan *scheduling.Plan) {
	placed := map[string]bool{}
	for i := range plan.Launches {
		for _, pod := range plan.Launches[i].Pods {
			placed[pod] = true
		}
	}
	for i := range plan.Existing {
		for _, pod := range plan.Existing[i].Pods {
			placed[pod] = true
		}
	}
	for _, class := range c.Classes.Classes {
		for _, pod := range class.Pods {
			if name := podspec.PodName(pod); !placed[name] {
				plan.Unschedulable = append(plan.Unschedulable, scheduling.Unschedulable{Pod: name})
			}
		}
	}
	slices.SortFunc(plan.Unschedulable, func(a, b scheduling.Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
	plan.Summary.Pods = len(placed) + len(plan.Unschedulable)
	plan.Summary.Placed = len(placed)
}
