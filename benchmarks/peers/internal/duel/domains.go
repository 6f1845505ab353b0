package duel

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// withEmptyDomains returns the problem with a node without allocatable resources for each machine on sale that
// could hold a pod with spread constraints, if that pod were alone and its pool had neither limits
// nor minValues. The nodes have no host name, because they must not count as domains of hosts.
//
// kube-scheduler alone counts only domains that have nodes: pods that all go to one zone
// satisfy their constraint, because the other zones have none.
func withEmptyDomains(p scheduling.Problem) scheduling.Problem {
	nodes := map[string]*corev1.Node{}
	for _, pool := range p.NodePools {
		for _, node := range peer.Machines(&p, pool) {
			if slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
				return spreads(pod) && peer.Suits(pod, node) == nil && peer.Holds(node, pod) == nil
			}) {
				node.Labels[scheduling.RegisteredLabel], node.Labels[scheduling.InitializedLabel] = "true", "true"
				nodes[fmt.Sprint(node.Labels)] = node
			}
		}
	}
	p.Nodes = slices.Clone(p.Nodes)
	for i, at := range slices.Sorted(maps.Keys(nodes)) {
		node := nodes[at]
		node.Name, node.Status.Allocatable = fmt.Sprintf("empty-domain-%d", i), nil
		p.Nodes = append(p.Nodes, node)
	}
	return p
}

// spreads is whether a pod has to spread over more than hosts.
func spreads(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.TopologyKey != corev1.LabelHostname
	})
}

// tried is the number of orders in which the pods of a plan are bound beside the order of their names.
const tried = 16

// unlucky returns verify's objection to a plan when pods of equal priority come in another
// order than that of their names: from the last to the first, then in random ones. It is
// "" if all pods bind in all orders that are tried.
func unlucky(p scheduling.Problem, plan *scheduling.Plan, solver scheduling.Policy) string {
	dice := rand.New(rand.NewPCG(1, 2))
	turns := make([]int, len(p.Pods))
	for i := range turns {
		turns[i] = len(turns) - i
	}
	for range tried {
		again, renamed := inTurn(p, plan, turns)
		var report *verify.Report
		if errors.As(verify.Checker{Policy: solver, SkipRefusals: true}.Plan(again, renamed), &report) {
			for _, v := range report.Violations {
				if aboutOthers(v.Code) {
					return v.Error()
				}
			}
		}
		dice.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
	}
	return ""
}

// aboutOthers is whether a rule depends on which pods are there already.
func aboutOthers(c verify.Code) bool {
	return c == verify.CodeTopologySpread || c == verify.CodePodAffinity || c == verify.CodePodAntiAffinity
}

// inTurn gives pods names by which they come in their turns, in the problem and in the
// plan.
func inTurn(p scheduling.Problem, plan *scheduling.Plan, turns []int) (scheduling.Problem, *scheduling.Plan) {
	names := map[string]string{}
	pods := make([]*corev1.Pod, len(p.Pods))
	for i, pod := range p.Pods {
		pods[i] = pod.DeepCopy()
		pods[i].Name = fmt.Sprintf("%06d-%s", turns[i], pod.Name)
		names[scheduling.PodName(pod)] = scheduling.PodName(pods[i])
	}
	p.Pods = pods
	out := &scheduling.Plan{Launches: slices.Clone(plan.Launches), Unschedulable: slices.Clone(plan.Unschedulable)}
	for i := range out.Launches {
		l := &out.Launches[i]
		l.Pods = slices.Clone(l.Pods)
		for k, pod := range l.Pods {
			l.Pods[k] = names[pod]
		}
		slices.Sort(l.Pods)
	}
	for i := range out.Unschedulable {
		out.Unschedulable[i].Pod = names[out.Unschedulable[i].Pod]
	}
	return p, out
}
