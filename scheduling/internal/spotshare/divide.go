package spotshare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Division is the pods of a problem as its SpotPolicies divide them. nil is that of no policies.
type Division struct {
	// Problem is the problem without SpotPolicies, in which each pod that a policy chooses requires that its node is no spot node.
	Problem *scheduling.Problem
	// shares are those of the policies in the order of their names, as far as they are known without a plan, and pods the pods of
	// each.
	shares []scheduling.SpotShare
	pods   [][]*corev1.Pod
	// bounds are those from which pods have the requirement, by pod.
	bounds map[types.NamespacedName]Bound
}

// Bound is the bound of a SpotPolicy: its field maxSpotPercent or minOnDemand. The zero value is none.
type Bound struct{ Policy, Field string }

// Divide divides the pods of a problem. They are chosen in the order that [scheduling.SpotPolicy] states. Without policies it is nil.
// p is not changed; entries that are nil, and selectors that are not valid, select nothing.
func Divide(p *scheduling.Problem) *Division {
	if len(p.SpotPolicies) == 0 {
		return nil
	}
	problem := *p
	problem.SpotPolicies = nil
	problem.Pods, problem.Running = slices.Clone(p.Pods), slices.Clone(p.Running)
	out := &Division{Problem: &problem, bounds: map[types.NamespacedName]Bound{}}
	places := placesOf(&problem)
	for _, policy := range inOrder(p.SpotPolicies) {
		selected := selection(&policy.Spec)
		var ordered []*place
		var pods []*corev1.Pod
		for i := range places {
			if selected(*places[i].pod) {
				places[i].rank = places[i].order()
				ordered, pods = append(ordered, &places[i]), append(pods, *places[i].pod)
			}
		}
		slices.SortFunc(ordered, comparePlaces)
		least, field := minOnDemand(&policy.Spec, len(pods))
		share := scheduling.SpotShare{Policy: policy.Name, Pods: len(pods), MinOnDemand: least}
		for _, x := range ordered[:share.MinOnDemand] {
			key := podspec.PodKey(*x.pod)
			share.OnDemandPods = append(share.OnDemandPods, key)
			if x.rank > neverSpot {
				*x.pod, out.bounds[key] = withoutSpot(*x.pod), Bound{policy.Name, field}
			}
		}
		out.shares, out.pods = append(out.shares, share), append(out.pods, pods)
	}
	return out
}

// BoundOf is the bound from which a pod has the requirement that its node is no spot node.
func (d *Division) BoundOf(pod types.NamespacedName) Bound {
	if d == nil {
		return Bound{}
	}
	return d.bounds[pod]
}

// inOrder are the policies in the order of their names.
func inOrder(policies []*scheduling.SpotPolicy) []*scheduling.SpotPolicy {
	return slices.SortedFunc(slices.Values(lo.Compact(policies)), func(a, b *scheduling.SpotPolicy) int { return strings.Compare(a.Name, b.Name) })
}

// selection returns whether a policy selects a pod.
func selection(s *scheduling.SpotPolicySpec) func(*corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(s.PodSelector)
	return func(pod *corev1.Pod) bool {
		return err == nil && (len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, podspec.NamespaceOf(pod))) &&
			selector.Matches(labels.Set(pod.Labels))
	}
}

// counts reports whether policies count a pod.
func counts(pod *corev1.Pod) bool {
	return pod != nil && !scheduling.IsVirtual(pod) && !lifecycle.Leaving(pod) && !lifecycle.OfDaemonSet(pod) && !lifecycle.Static(pod) &&
		len(pod.Spec.SchedulingGates) == 0
}

// minOnDemand is the number of n pods that must not be on spot nodes, and the field of the policy that decides it.
func minOnDemand(s *scheduling.SpotPolicySpec, n int) (least int, field string) {
	least, field = int(s.MinOnDemand), "minOnDemand"
	if s.MaxSpotPercent != nil {
		if share := n - n*int(*s.MaxSpotPercent)/100; share >= least {
			least, field = share, "maxSpotPercent"
		}
	}
	return max(0, min(n, least)), field
}

// The ranks of pods in the order in which they are chosen.
const (
	neverSpot = iota // it may not be on spot nodes anyway
	onDemand         // it runs on demand, or is nominated to a node on demand
	pending
	nominatedToSpot
	onSpot
	requiresSpot
)

// place is a pod with its node.
type place struct {
	pod  **corev1.Pod // in the list of the problem
	node string       // where it runs or is nominated; "" for none
	spot bool         // that is a spot node, or not among the nodes
	rank int
}

// placesOf are the pods of a problem, where they run or are nominated.
func placesOf(p *scheduling.Problem) []place {
	onDemandNodes := map[string]bool{}
	for _, node := range lo.Compact(p.Nodes) {
		onDemandNodes[node.Name] = node.Labels[offerings.CapacityTypeLabel] != string(offerings.Spot)
	}
	out := make([]place, 0, len(p.Pods)+len(p.Running))
	for _, list := range [][]*corev1.Pod{p.Running, p.Pods} {
		for i, pod := range list {
			if !counts(pod) {
				continue
			}
			x := place{pod: &list[i], node: pod.Spec.NodeName}
			if x.node == "" {
				x.node = podspec.NominatedNode(p, pod)
			}
			x.spot = !onDemandNodes[x.node]
			out = append(out, x)
		}
	}
	return out
}

// order is the rank of a pod.
func (x *place) order() int {
	spot, other := admitted(*x.pod)
	switch pod := *x.pod; {
	case !spot:
		return neverSpot
	case !other:
		return requiresSpot
	case x.node != "" && !x.spot:
		return onDemand
	case pod.Spec.NodeName != "":
		return onSpot
	case x.node != "":
		return nominatedToSpot
	}
	return pending
}

func comparePlaces(a, b *place) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.node, b.node), podspec.ComparePods(*a.pod, *b.pod))
}
