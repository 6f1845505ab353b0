package scheduling

import (
	"context"
	"slices"
	"strings"
)

// Place plans as [Session.Plan] does, with an effort of its own, and leaves out what
// only people need: pods without a place are listed without reasons, no bound is proven,
// and of the summary only the numbers of pods are there. It is for those who ask what if,
// many times over.
func (x *Session) Place(ctx context.Context, effort Effort) (*Plan, error) {
	return x.place(ctx, effort, false)
}

// PlaceLoosely is [Session.Place] with nodes that run filled kind by kind. Solve and Place
// fill them one by one, such that little of their room is left, and kind by kind only where
// something has to be bought and that is cheaper.
func (x *Session) PlaceLoosely(ctx context.Context, effort Effort) (*Plan, error) {
	return x.place(ctx, effort, true)
}

func (x *Session) place(ctx context.Context, effort Effort, loose bool) (*Plan, error) {
	facts, err := x.facts()
	if err != nil {
		return nil, err
	}
	solver := x.solver
	solver.Effort = effort
	if err := solver.validate(); err != nil {
		return nil, err
	}
	facts.solver, facts.terse, facts.loose = &solver, true, loose
	return facts.solve(ctx)
}

// list lists the pods that found no place, without reasons.
func (c *compiler) list(plan *Plan) {
	if c.sited != nil {
		c = c.sited.compiler
	}
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
	for _, class := range c.classes.classes {
		for _, pod := range class.pods {
			if name := podName(pod); !placed[name] {
				plan.Unschedulable = append(plan.Unschedulable, Unschedulable{Pod: name})
			}
		}
	}
	slices.SortFunc(plan.Unschedulable, func(a, b Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
	plan.Summary.Pods = len(placed) + len(plan.Unschedulable)
	plan.Summary.Placed = len(placed)
}
