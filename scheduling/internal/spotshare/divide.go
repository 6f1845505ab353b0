package spotshare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Divide returns the problem without SpotPolicies in which each pod that a policy chooses requires that its node is no spot
// node, and the shares of the policies as far as they are known without a plan. Pods are chosen in the order that
// [scheduling.SpotPolicy] states. Without policies it is the problem itself. p is not changed; entries that are nil, and
// selectors that are not valid, select nothing.
func Divide(p *scheduling.Problem) (*scheduling.Problem, []scheduling.SpotShare) {
	if len(p.SpotPolicies) == 0 {
		return p, nil
	}
	out := *p
	out.SpotPolicies = nil
	out.Pods, out.Running = slices.Clone(p.Pods), slices.Clone(p.Running)
	places := placesOf(&out)
	var shares []scheduling.SpotShare
	for _, policy := range inOrder(p.SpotPolicies) {
		selected := selection(&policy.Spec)
		var pods []*place
		for i := range places {
			if selected(*places[i].pod) {
				places[i].rank = places[i].order()
				pods = append(pods, &places[i])
			}
		}
		slices.SortFunc(pods, comparePlaces)
		share := scheduling.SpotShare{Policy: policy.Name, Pods: len(pods), MinOnDemand: minOnDemand(&policy.Spec, len(pods))}
		for _, x := range pods[:share.MinOnDemand] {
			share.OnDemandPods = append(share.OnDemandPods, podspec.PodKey(*x.pod))
			if x.rank > neverSpot {
				*x.pod = withoutSpot(*x.pod)
			}
		}
		shares = append(shares, share)
	}
	return &out, shares
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

// minOnDemand is the number of n pods that must not be on spot nodes.
func minOnDemand(s *scheduling.SpotPolicySpec, n int) int {
	least := int(s.MinOnDemand)
	if s.MaxSpotPercent != nil {
		least = max(least, n-n*int(*s.MaxSpotPercent)/100)
	}
	return max(0, min(n, least))
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
