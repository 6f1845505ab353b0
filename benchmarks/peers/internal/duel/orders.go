package duel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// tried is in how many orders the pods of a plan are bound beside the order of their names.
const tried = 16

// unlucky is what verify says about a plan when pods of equal priority come in another
// order than that of their names: from the last to the first, then in random ones. It is
// empty if all pods bind in all orders that are tried.
func unlucky(p scheduling.Problem, plan *scheduling.Plan, solver scheduling.Solver) string {
	dice := rand.New(rand.NewPCG(1, 2))
	turns := make([]int, len(p.Pods))
	for i := range turns {
		turns[i] = len(turns) - i
	}
	for range tried {
		again, renamed := inTurn(p, plan, turns)
		var report *verify.Report
		if errors.As(verify.Checker{Solver: solver, SkipRefusals: true}.Plan(again, renamed), &report) {
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
	return c == verify.TopologySpread || c == verify.PodAffinity || c == verify.PodAntiAffinity
}

// inTurn gives pods names by which they come in their turns, in the problem and in the
// plan.
func inTurn(p scheduling.Problem, plan *scheduling.Plan, turns []int) (scheduling.Problem, *scheduling.Plan) {
	names := map[string]string{}
	pods := make([]*corev1.Pod, len(p.Pods))
	for i, pod := range p.Pods {
		pods[i] = pod.DeepCopy()
		pods[i].Name = fmt.Sprintf("%06d-%s", turns[i], pod.Name)
		names[name(pod)] = name(pods[i])
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
