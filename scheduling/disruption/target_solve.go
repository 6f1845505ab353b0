package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// solveRebuild plans the cluster from scratch with the given nodes gone, for its price, the bound and the dual values
// of pods. More than the least effort lowers the price by a few percent and raises the bound by tenths of a percent,
// and takes longer than everything else of a plan.
func (f *state) solveRebuild(ctx context.Context, effort scheduling.Effort, loose map[string]bool) (*rebuildTarget, error) {
	problem := f.rebuildProblem(loose)
	solver := f.rebuildPolicy(loose)
	solver.Effort, solver.NoReasons = effort, true
	plan, err := f.planRebuild(ctx, solver, problem)
	if err != nil {
		return nil, err
	}
	proof := plan
	if !f.pinned && spreadOverHosts(&problem) {
		solver.Placement, solver.Effort = scheduling.PlacementFree, scheduling.EffortFast
		if proof, err = f.planRebuild(ctx, solver, problem); err != nil {
			return nil, err
		}
	}
	var fixed tally
	for _, s := range f.nodes {
		if !s.launched && !loose[s.name] {
			fixed.add(s)
		}
	}
	sums := &plan.Summary
	t := &rebuildTarget{
		tally: tally{
			price:        addPrices(max(sums.PricePerHour, sums.ExpectedPerHour), fixed.price),
			machinePrice: addPrices(sums.PricePerHour, fixed.machinePrice), nodes: sums.Nodes + fixed.nodes,
		},
		bound: addPrices(proof.Summary.LowerBoundPerHour, fixed.price), kept: fixed.price, certificate: proof.Summary.Certificate,
		composition: f.composition(func(s *candidate) bool { return !s.launched && !loose[s.name] }, plan.Launches),
		podValues:   prove.PodDuals(proof.Summary.Certificate, problem.Pods),
	}
	for i := range proof.Unschedulable {
		t.leftOut = append(t.leftOut, proof.Unschedulable[i].Pod)
	}
	return t, nil
}

// planRebuild plans a problem other than that of the sessions, with the catalogs that the sessions have read.
func (f *state) planRebuild(ctx context.Context, s scheduling.Policy, p scheduling.Problem) (*scheduling.Plan, error) {
	if f.launchSession == nil {
		return provisioning.Planner{Policy: s}.Plan(ctx, p)
	}
	session, err := f.launchSession.ForProblem(s, p)
	if err != nil {
		return nil, err
	}
	return session.Plan(ctx)
}

// spreadOverHosts reports whether a pod has a hard topology spread over hosts. kube-scheduler may bind more of these
// pods to a node than the skew allows in a plan that pins pods, so that the bound of such a plan does not hold for
// kube-scheduler.
func spreadOverHosts(p *scheduling.Problem) bool {
	hard := func(c corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == corev1.LabelHostname && c.WhenUnsatisfiable == corev1.DoNotSchedule
	}
	return slices.ContainsFunc(p.DefaultSpread, hard) || slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, hard)
	})
}
