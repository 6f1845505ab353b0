package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// solveAnew buys the cluster afresh, without some nodes, for the bound and for what pods are
// worth. More effort than the least lowers its price by a few percent, raises the bound by tenths of one, and takes more time
// than all else of a plan.
func (f *state) solveAnew(ctx context.Context, effort scheduling.Effort, loose map[string]bool) (*target, error) {
	problem := f.anew(loose)
	solver := f.buysBack(loose)
	solver.Effort, solver.NoReasons = effort, true
	plan, err := f.planAnew(ctx, solver, problem)
	if err != nil {
		return nil, err
	}
	proof := plan
	if !f.pinned && spreadOverHosts(&problem) {
		solver.Placement, solver.Effort = scheduling.PlacementFree, scheduling.EffortFast
		if proof, err = f.planAnew(ctx, solver, problem); err != nil {
			return nil, err
		}
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
		bound: clampPrice(proof.Summary.LowerBoundPerHour, fixed.price), kept: fixed.price, certificate: proof.Summary.Certificate,
		composition: f.composition(func(s *candidate) bool { return !s.fresh && !loose[s.name] }, plan.Launches),
		worth:       prove.PodDuals(proof.Summary.Certificate, problem.Pods),
	}
	for i := range proof.Unschedulable {
		t.leftOut = append(t.leftOut, proof.Unschedulable[i].Pod)
	}
	return t, nil
}

// planAnew plans another problem than that of the sessions, which remember what they have read of catalogs.
func (f *state) planAnew(ctx context.Context, s scheduling.Policy, p scheduling.Problem) (*scheduling.Plan, error) {
	if f.market == nil {
		return provisioning.Planner{Policy: s}.Plan(ctx, p)
	}
	session, err := f.market.Anew(s, p)
	if err != nil {
		return nil, err
	}
	return session.Plan(ctx)
}

// spreadOverHosts reports whether some pods have a spread over hosts that must hold: kube-scheduler may bind more of such
// pods to a node than the skew, where a bound of plans that say where pods go counts with no more.
func spreadOverHosts(p *scheduling.Problem) bool {
	hard := func(c corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == corev1.LabelHostname && c.WhenUnsatisfiable == corev1.DoNotSchedule
	}
	return slices.ContainsFunc(p.DefaultSpread, hard) || slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, hard)
	})
}
