package verify

import (
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// freshBound proves the lower bound anew: for buying afresh what the nodes hold that may
// go for some reason, beside the nodes that may not, whose price comes on top. It is about
// the pods that the plan does not leave out.
func (c StepsChecker) freshBound(r *Report, cluster disruption.Cluster, plan *disruption.Plan) {
	claimed, cert := plan.Summary.LowerBoundPerHour, plan.Summary.Certificate
	if claimed <= 0 {
		return
	}
	problem, kept := c.fresh(cluster)
	rest := new(big.Int).Sub(big.NewInt(int64(claimed)), kept)
	if rest.Sign() <= 0 {
		return // what stays costs as much
	}
	if cert == nil {
		r.add(CertificateMissing, "summary", "lower bound %v without a certificate", claimed)
		return
	}
	w := newWorld(problem)
	w.solver = c.Planner.Solver
	left := make(map[string]bool)
	for i, name := range plan.Summary.LeftOut {
		if w.pods[name] == nil {
			r.add(PodUnknown, "summary", "the bound leaves out %s, which is no pod of a node that may go", name)
		}
		if i > 0 && plan.Summary.LeftOut[i-1] >= name {
			r.add(Unsorted, "summary", "leftOut: %s does not belong behind %s", name, plan.Summary.LeftOut[i-1])
		}
		left[name] = true
	}
	everywhere := scheduling.Assignment{}
	for _, t := range w.sortedPods() {
		if !t.isHeld() && !left[t.name] {
			everywhere.Pods = append(everywhere.Pods, t.name)
		}
	}
	j := &judge{
		Report: r, world: w, settings: Checker{Solver: c.Planner.Solver},
		plan: &scheduling.Plan{
			Existing: []scheduling.Assignment{everywhere},
			Summary:  scheduling.Summary{LowerBoundPerHour: offerings.Price(rest.Int64()), Certificate: cert},
		},
	}
	j.bound()
}

// fresh is the problem of buying anew what may go, and what the nodes of pools cost that
// may not.
func (c StepsChecker) fresh(cluster disruption.Cluster) (scheduling.Problem, *big.Int) {
	g := newGround(c, cluster, &disruption.Plan{})
	problem, kept := cluster.Problem, new(big.Int)
	problem.Nodes, problem.Pods, problem.Running = nil, nil, nil
	goes := make(map[string]bool)
	for _, node := range cluster.Nodes {
		s := g.nodes[node.Name]
		if goes[node.Name] = g.mayGoForSome(s); goes[node.Name] {
			continue
		}
		problem.Nodes = append(problem.Nodes, node)
		if s.pool != nil && s.priced {
			kept.Add(kept, big.NewInt(s.price))
		}
	}
	for _, pod := range slices.Concat(cluster.Running, cluster.Pods) {
		switch {
		case pod.Spec.NodeName == "":
		case !goes[pod.Spec.NodeName]:
			problem.Running = append(problem.Running, pod)
		case livesOn(pod):
			again := *pod
			again.Spec.NodeName, again.DeletionTimestamp, again.Status = "", nil, corev1.PodStatus{}
			problem.Pods = append(problem.Pods, &again)
		}
	}
	return problem, kept
}

// mayGoForSome reports whether the node may be disrupted for some reason that is meant,
// whatever the budgets of its pool say.
func (g *ground) mayGoForSome(s *standing) bool {
	for _, reason := range reasons() {
		if reason == disruption.Misplaced || !g.meant(reason) {
			continue
		}
		r := &Report{}
		a := &act{ground: g, Report: r, step: &disruption.Step{Reason: reason}}
		if a.mayGo(s, ""); len(r.Violations) == 0 {
			return true
		}
	}
	return false
}
