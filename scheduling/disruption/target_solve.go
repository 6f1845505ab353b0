package disruption

import (
	"context"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// solveAnew buys the cluster afresh, without some nodes, for the bound and for what pods are
// worth.
func (f *state) solveAnew(ctx context.Context, effort scheduling.Effort, loose map[string]bool) (*target, error) {
	problem := f.anew(loose)
	solver := f.buysBack(loose)
	solver.Effort, solver.NoReasons = effort, true
	plan, err := provisioning.Planner{Policy: solver}.Plan(ctx, problem)
	if err != nil {
		return nil, err
	}
	var fixed tally
	for _, s := range f.nodes {
		if !s.fresh && !loose[s.name] {
			fixed.add(s)
		}
	}
	sums := &plan.Summary
	t := &target{
		tally: tally{
			price: clampPrice(max(sums.PricePerHour, sums.ExpectedPerHour), fixed.price),
			paid:  clampPrice(sums.PricePerHour, fixed.paid), nodes: sums.Nodes + fixed.nodes,
		},
		bound: clampPrice(sums.LowerBoundPerHour, fixed.price), certificate: sums.Certificate,
		worth: prove.PodDuals(sums.Certificate, problem.Pods),
	}
	for i := range plan.Unschedulable {
		t.leftOut = append(t.leftOut, plan.Unschedulable[i].Pod)
	}
	return t, nil
}
