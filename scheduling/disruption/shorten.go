package disruption

import (
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Shorten is a plan of the same planner for the same cluster that ends after its first steps. It is as safe as the
// whole plan, because a step needs those before it and none after it. Nodes that later steps would have removed stay
// ([CauseStepsLimit]), and prices, nodes and pods of the summary are those after the remaining steps. It has no lower
// bound and no cluster rebuilt from scratch, because these are not looked for again. Errors are those of
// [Planner.Plan], and that of a plan with fewer steps or for another cluster.
func (p Planner) Shorten(ctx context.Context, c Cluster, plan *ConsolidationPlan, steps int) (*ConsolidationPlan, error) {
	if plan == nil || steps < 0 || steps > len(plan.Steps) {
		return nil, fmt.Errorf("%w: steps: the plan has no first %d steps", scheduling.ErrInvalid, steps)
	}
	free := p.Policy.Placement == scheduling.PlacementFree
	r, err := p.begin(ctx, &c, free, &provisioning.Session{})
	if err != nil {
		return nil, err
	}
	start := withoutSessions(r.state)
	for i := range steps {
		if err := r.state.take(&plan.Steps[i]); err != nil {
			return nil, fmt.Errorf("%w: steps[%d]: %w", scheduling.ErrInvalid, i, err)
		}
	}
	r.steps, r.done, r.warnings = plan.Steps[:steps:steps], true, slices.Clone(plan.Warnings)
	r.findings = &findings{rejected: map[string]*RejectedMove{}, timedOut: plan.Summary.Status == scheduling.StatusDeadline}
	for i := range plan.Nodes {
		v := &plan.Nodes[i]
		r.findings.rejected[v.Node] = v.Rejected
		r.causes[v.Node] = slices.DeleteFunc(slices.Clone(v.Reasons), func(c Cause) bool { return c.Code == CauseNeededForPods })
	}
	out := assemble(r)
	if free {
		out.Cordon = cordon(out.Steps)
		out.Summary.AfterScheduling, err = realise(ctx, start, out, r.state.sessions.Launch)
	}
	return out, err
}
