package disruption

import (
	"context"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/rebuild"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// RebuildProblem is the problem of rebuilding the cluster from scratch: every node that the planner may disrupt for some reason
// is gone, and its pods are pending. All other nodes stay as they are, with their pods and their free capacity.
// Pending pods of the cluster are left out, virtual ones too: the bound of a plan with room is proven for the problem of
// [Cluster.WithRoom]. The pods are successors ([scheduling.SuccessorUID]): the claims of their
// ephemeral volumes are made again. The offerings of removed nodes are available again, reserved ones included, because
// these nodes could as well have stayed. So a solver of the problem must be allowed to launch these offerings even if
// NoSpot, Filters and Size of the planner's policy exclude them; the bound is proven with them.
//
// The price of a plan of it, together with the nodes of pools that stay, is the price of a cluster for the same pods
// if pods may move freely. [ConsolidationSummary.LowerBoundPerHour] is the proven bound of its plans plus the price of those
// nodes. Budgets of NodePools do not matter, because they bound how many nodes are removed at once, and not how many
// altogether.
//
// For a cluster that [Planner.Plan] refuses its problem is returned unchanged.
func (c *Cluster) RebuildProblem(p Planner) scheduling.Problem {
	if joined(check(&p, c), provisioning.Validate(&c.Problem)) != nil {
		return c.Problem
	}
	f := newState(p, c)
	return rebuild.Problem(f.problem, f.disruptable)
}

// WithRoom is the cluster in which virtual pods run on the nodes where a plan keeps their room ([ConsolidationPlan.Room]), as
// steps and the lower bound see it. c stays as it is; names that no pending virtual pod has are skipped.
func (c Cluster) WithRoom(room []scheduling.Assignment) Cluster {
	c.Problem = *withRoom(&c.Problem, room)
	return c
}

// rebuildTarget is a cluster rebuilt from scratch. The search for savings aims at its price.
type rebuildTarget struct {
	// tally are its sums, nodes that stay included.
	tally
	// composition are its nodes by kind.
	composition []NodeKind
	// bound is its least price, nodes that stay included, as the certificate proves. Pods of leftOut are not part of
	// it, because they fit on no node.
	bound offerings.Price
	// kept is the price of the nodes that stay. It is part of the price and of the bound.
	kept        offerings.Price
	certificate *certificate.Certificate
	leftOut     []string
	// unplaced are the pods that have no node in it, by name. They may be more than those of leftOut, because the bound is
	// proven with offerings that the policy excludes.
	unplaced []string
	// podValues are the dual values of pods by name, in USD per hour: how much the bound falls without the pod.
	podValues map[string]offerings.Price
}

// solveRebuild plans the cluster from scratch with the given nodes gone, for its price, the bound and the dual values
// of pods. More than the least effort lowers the price by a few percent and raises the bound by tenths of a percent,
// and takes longer than everything else of a plan.
func solveRebuild(ctx context.Context, f *state, effort scheduling.Effort, gone map[string]bool) (*rebuildTarget, error) {
	task := rebuild.Task{Cluster: withRoom(f.problem, f.room), Gone: gone, Policy: f.planner.Policy, BoundFreely: !f.pinned}
	if f.sessions != nil {
		task.Session = f.sessions.Launch
	}
	task.Policy.Effort = effort
	found, err := rebuild.Solve(ctx, task)
	if err != nil {
		return nil, err
	}
	var fixed tally
	for _, s := range f.nodes {
		if !s.launched && !gone[s.name] {
			fixed.add(s)
		}
	}
	sums, proof := &found.Solution.Summary, &found.Proof.Summary
	t := &rebuildTarget{
		tally: tally{
			price:        offerings.Sum(max(sums.PricePerHour, sums.ExpectedPerHour), fixed.price),
			machinePrice: offerings.Sum(sums.PricePerHour, fixed.machinePrice), nodes: sums.Nodes + fixed.nodes,
		},
		bound: offerings.Sum(proof.LowerBoundPerHour, fixed.price), kept: fixed.price, certificate: proof.Certificate,
		composition: compositionOf(f, func(s *candidate) bool { return !s.launched && !gone[s.name] }, found.Solution.Launches),
		podValues:   prove.PodDuals(proof.Certificate, found.Problem.Pods),
	}
	pods := func(list []scheduling.Unschedulable) []string {
		return lo.Map(list, func(u scheduling.Unschedulable, _ int) string { return u.Pod })
	}
	t.leftOut, t.unplaced = pods(found.Proof.Unschedulable), pods(found.Solution.Unschedulable)
	return t, nil
}

// sums are the number of pods that the cluster has no node for, and its price.
func (t *rebuildTarget) sums() (leftOut int, price offerings.Price) { return len(t.unplaced), t.price }
