package disruption

import (
	"fmt"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/spotshare"
)

// stateShares adds to a plan the shares of the SpotPolicies by which the pods are divided after the last step, and warns of those that select no
// pod. Where kube-scheduler places pods freely it also warns of each policy of which pods are evicted that must not be bound to
// spot nodes.
func stateShares(d *spotshare.Division, plan *ConsolidationPlan, free bool) {
	if d == nil {
		return
	}
	spotNodes, landed := spotshare.SpotNodes(d.Problem.Nodes), map[string]string{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		for j := range step.Launches {
			l := &step.Launches[j]
			spotNodes[l.Name] = l.Options[0].CapacityType == offerings.Spot
		}
		for _, e := range step.Evictions {
			landed[e.Pod] = e.To
		}
	}
	plan.Summary.SpotShares = d.Count(spotNodes, func(pod *corev1.Pod) string {
		if to, evicted := landed[podspec.PodName(pod)]; evicted {
			return to
		}
		return pod.Spec.NodeName
	})
	plan.Warnings = append(plan.Warnings, spotshare.SelectNothing(plan.Summary.SpotShares)...)
	for _, s := range plan.Summary.SpotShares {
		evicted := lo.CountBy(s.OnDemandPods, func(pod types.NamespacedName) bool { _, ok := landed[pod.String()]; return ok })
		if free && evicted > 0 {
			plan.Warnings = append(plan.Warnings, scheduling.Warning{Object: "SpotPolicy/" + s.Policy, Message: fmt.Sprintf(
				"kube-scheduler does not know the policy, and the steps evict %d of the %d pods that must not be on spot nodes: let them require %s NotIn [%s], e.g. in a Deployment of their own",
				evicted, s.MinOnDemand, offerings.CapacityTypeLabel, offerings.Spot)})
		}
	}
}
