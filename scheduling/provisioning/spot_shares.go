package provisioning

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/spotshare"
)

// schedulingSeeds is the number of simulations of kube-scheduler that [scheduling.SpotShare.SpotAfterScheduling] is the
// highest count of.
const schedulingSeeds = 3

// stateShares adds to a plan of p the shares of its SpotPolicies, by which the facts of p are divided, their price, and warnings where
// they cannot hold or where kube-scheduler may break them. Without policies it does nothing.
func stateShares(ctx context.Context, p *scheduling.Problem, f *instance.Facts, plan *scheduling.Plan) error {
	if f.Division == nil {
		return nil
	}
	s, policy := &plan.Summary, *f.Solver
	s.SpotShares = f.Division.Planned(plan)
	free := *p
	free.SpotPolicies = nil
	if policy.Placement == scheduling.PlacementFree {
		if err := scheduledShares(&free, f.Division, plan); err != nil {
			return err
		}
	}
	if !policy.NoReasons {
		policy.Effort = scheduling.EffortFast
		facts, err := instance.NewFacts(&free, &policy)
		if err != nil {
			return err
		}
		if s.WithoutSpotPolicies, err = comparison(ctx, facts); err != nil {
			return err
		}
	}
	if s.WithoutSpotPolicies != nil {
		price := offers.Objective(&policy, &s.WithoutSpotPolicies.Summary)
		s.WithoutSpotPoliciesPerHour = &price
	}
	plan.Warnings = append(plan.Warnings, shareWarnings(plan)...)
	return nil
}

// scheduledShares estimates the pods on spot nodes where no pod carries a requirement of a policy: kube-scheduler binds the
// pods of free, which is p without policies, on the nodes of the plan. Pods that stay pending count as on spot, because nodes
// would be launched for them without the policy.
func scheduledShares(free *scheduling.Problem, d *spotshare.Division, plan *scheduling.Plan) error {
	after := *free
	after.Nodes = slices.Clone(free.Nodes)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		node, err := l.Node(boughtPrefix+l.Name, &l.Options[0], free.CatalogOf(l.NodePool))
		if err != nil {
			return err
		}
		requirements.AddAliases(node.Labels)
		after.Nodes = append(after.Nodes, node)
	}
	spotNodes := spotshare.SpotNodes(after.Nodes)
	for seed := range uint64(schedulingSeeds) {
		list, err := Bind(after, seed)
		if err != nil {
			return err
		}
		bound := lo.SliceToMap(list, func(b Binding) (types.NamespacedName, string) { return b.Pod, b.Node })
		for i, share := range d.Count(spotNodes, func(pod *corev1.Pod) string { return cmp.Or(pod.Spec.NodeName, bound[podspec.PodKey(pod)]) }) {
			spot, most := share.Pods-share.OnDemand, &plan.Summary.SpotShares[i].SpotAfterScheduling
			if *most == nil || **most < spot {
				*most = &spot
			}
		}
	}
	return nil
}

// shareWarnings warns of policies that select no pod, of those that keep pods pending, which have nodes in a plan without policies, and of those that
// kube-scheduler is expected to break.
func shareWarnings(plan *scheduling.Plan) (out []scheduling.Warning) {
	refused, placed := map[string]bool{}, map[types.NamespacedName]bool{}
	for i := range plan.Unschedulable {
		refused[plan.Unschedulable[i].Pod] = true
	}
	if without := plan.Summary.WithoutSpotPolicies; without != nil {
		for pod := range without.Placements() {
			placed[pod] = true
		}
	}
	out = spotshare.SelectNothing(plan.Summary.SpotShares)
	for i := range plan.Summary.SpotShares {
		s := &plan.Summary.SpotShares[i]
		object := "SpotPolicy/" + s.Policy
		pending := lo.Filter(s.OnDemandPods, func(pod types.NamespacedName, _ int) bool { return refused[pod.String()] && placed[pod] })
		if len(pending) > 0 {
			out = append(out, scheduling.Warning{Object: object, Message: fmt.Sprintf(
				"keeps %d of its %d pods pending, which must not be on spot nodes, and which a plan without the policy places: let a NodePool launch on-demand nodes for them, raise maxSpotPercent or lower minOnDemand",
				len(pending), s.Pods)})
		}
		if most := s.Pods - s.MinOnDemand; s.SpotAfterScheduling != nil && *s.SpotAfterScheduling > max(most, s.Spot) {
			out = append(out, scheduling.Warning{Object: object, Message: fmt.Sprintf(
				"kube-scheduler does not know the policy, and may bind %d of its %d pods to spot nodes, %d more than it allows: bind the pods as planned (--placement nominated or pinned), or let %d of them require %s NotIn [%s], e.g. in a Deployment of their own",
				*s.SpotAfterScheduling, s.Pods, *s.SpotAfterScheduling-most, s.MinOnDemand, offerings.CapacityTypeLabel, offerings.Spot)})
		}
	}
	return out
}
