package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// SpotBound is how many pods of a SpotPolicy may be on spot nodes.
type SpotBound struct {
	Policy string
	// Pods are the names of the pods of the policy, running and pending.
	Pods map[string]bool
	// MinOnDemand is the number of them that must not be on spot nodes, and Field the field of the policy that decides it.
	MinOnDemand int
	Field       string
	// Chosen are the names of the pods that the policy chooses.
	Chosen map[string]bool
}

// MaxSpot is the number of pods that may be on spot nodes.
func (b *SpotBound) MaxSpot() int { return len(b.Pods) - b.MinOnDemand }

// DividePods returns the problem without SpotPolicies, in which the pods that each policy chooses (see
// [scheduling.SpotPolicy]) require nodes that are no spot nodes, and the bounds of the policies in the order of their names.
func DividePods(p scheduling.Problem) (scheduling.Problem, []SpotBound) {
	policies := make(map[string]*scheduling.SpotPolicy)
	for _, policy := range lo.Compact(p.SpotPolicies) {
		policies[policy.Name] = policy
	}
	p.SpotPolicies = nil
	var bounds []SpotBound
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		bound := SpotBound{Policy: name, Pods: make(map[string]bool), Chosen: make(map[string]bool)}
		pods := lo.Filter(slices.Concat(p.Running, p.Pods), func(pod *corev1.Pod, _ int) bool { return isUnder(&policies[name].Spec, pod) })
		for _, pod := range pods {
			bound.Pods[ObjectName(pod)] = true
		}
		bound.MinOnDemand, bound.Field = leastOnDemand(&policies[name].Spec, len(pods))
		open := lo.Filter(pods, func(pod *corev1.Pod, _ int) bool { return admitsCapacityType(pod, string(offerings.Spot)) })
		excluded := len(pods) - len(open) // they cannot be on spot nodes
		for _, pod := range sortedForDemand(&p, open)[:max(0, bound.MinOnDemand-excluded)] {
			bound.Chosen[ObjectName(pod)] = true
		}
		p.Running, p.Pods = barred(p.Running, bound.Chosen), barred(p.Pods, bound.Chosen)
		bounds = append(bounds, bound)
	}
	return p, bounds
}

// isUnder reports whether a policy counts a pod.
func isUnder(s *scheduling.SpotPolicySpec, pod *corev1.Pod) bool {
	if pod == nil || scheduling.IsVirtual(pod) || !Live(pod) || len(pod.Spec.SchedulingGates) > 0 || Owner(pod, "DaemonSet") != "" || IsMirror(pod) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(s.PodSelector)
	inNamespace := len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, NamespaceOf(pod))
	return err == nil && inNamespace && selector.Matches(labels.Set(pod.Labels))
}

// leastOnDemand is how many of n pods must not be on spot nodes, and the field that decides it.
func leastOnDemand(s *scheduling.SpotPolicySpec, n int) (least int, field string) {
	most, field := n-int(s.MinOnDemand), "minOnDemand"
	if s.MaxSpotPercent != nil {
		if share := n * int(*s.MaxSpotPercent) / 100; share <= most {
			most, field = share, "maxSpotPercent"
		}
	}
	return n - max(0, most), field
}

// KeepsOffSpot returns the bound from which a pod, by name, must not be on the node, because that is a spot node; nil for none.
func KeepsOffSpot(bounds []SpotBound, pod string, n *Node) *SpotBound {
	if capacityType, _ := n.Value(offerings.CapacityTypeLabel); capacityType != string(offerings.Spot) {
		return nil
	}
	i := slices.IndexFunc(bounds, func(b SpotBound) bool { return b.Chosen[pod] })
	if i < 0 {
		return nil
	}
	return &bounds[i]
}

// sortedForDemand sorts pods that may be on spot nodes in the order in which a policy chooses them.
func sortedForDemand(p *scheduling.Problem, pods []*corev1.Pod) []*corev1.Pod {
	onDemand := make(map[string]bool)
	for _, node := range lo.Compact(p.Nodes) {
		onDemand[node.Name] = node.Labels[offerings.CapacityTypeLabel] != string(offerings.Spot)
	}
	at := make(map[*corev1.Pod]string)
	group := make(map[*corev1.Pod]int)
	for _, pod := range pods {
		node, runs := pod.Spec.NodeName, pod.Spec.NodeName != ""
		if !runs {
			node = nominatedTo(p, pod)
		}
		at[pod] = node
		switch {
		case !admitsOtherCapacityType(pod):
			group[pod] = 5
		case onDemand[node]:
			group[pod] = 1
		case node == "":
			group[pod] = 2
		case !runs:
			group[pod] = 3
		default:
			group[pod] = 4
		}
	}
	return slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(group[a], group[b]), cmp.Compare(at[a], at[b]), cmp.Compare(NamespaceOf(a), NamespaceOf(b)), cmp.Compare(a.Name, b.Name))
	})
}

// nominatedTo returns the node that a pending pod is nominated to; "" for none.
func nominatedTo(p *scheduling.Problem, pod *corev1.Pod) string {
	if node, ok := Promised(p, pod); ok {
		return node
	}
	return pod.Status.NominatedNodeName
}

// Promised returns the node that the problem names for a pod.
func Promised(p *scheduling.Problem, pod *corev1.Pod) (node string, ok bool) {
	key := types.NamespacedName{Namespace: NamespaceOf(pod), Name: pod.Name}
	if node, ok = p.Nominated[key]; !ok && key.Namespace == corev1.NamespaceDefault {
		key.Namespace = ""
		node, ok = p.Nominated[key]
	}
	return node, ok
}

// admitsOtherCapacityType reports whether a pod admits nodes of some capacity type other than spot, or without one.
func admitsOtherCapacityType(pod *corev1.Pod) bool {
	values := []string{"", string(offerings.OnDemand), "a type that no pod names"}
	for _, t := range requiredTerms(pod) {
		for _, e := range t.MatchExpressions {
			values = append(values, e.Values...)
		}
	}
	values = append(values, pod.Spec.NodeSelector[offerings.CapacityTypeLabel])
	return slices.ContainsFunc(values, func(v string) bool { return v != string(offerings.Spot) && admitsCapacityType(pod, v) })
}

// admitsCapacityType reports whether the node selector and the required node affinity of a pod admit a node of a capacity type,
// "" for one without, as far as they are about it.
func admitsCapacityType(pod *corev1.Pod, value string) bool {
	if want, ok := pod.Spec.NodeSelector[offerings.CapacityTypeLabel]; ok && (value == "" || want != value) {
		return false
	}
	terms := requiredTerms(pod)
	return terms == nil || slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions)+len(t.MatchFields) > 0 && !slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Key == offerings.CapacityTypeLabel && !admittedValue(&e, value)
		})
	})
}

// admittedValue reports whether an expression admits a value, "" for a missing label.
func admittedValue(e *corev1.NodeSelectorRequirement, value string) bool {
	switch e.Operator {
	case corev1.NodeSelectorOpIn:
		return value != "" && slices.Contains(e.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return value == "" || !slices.Contains(e.Values, value)
	case corev1.NodeSelectorOpExists:
		return value != ""
	case corev1.NodeSelectorOpDoesNotExist:
		return value == ""
	default: // Gt and Lt, of numbers
		return value != "" && value != string(offerings.Spot)
	}
}

// requiredTerms are the terms of the required node affinity of a pod, one of which must hold; nil without one.
func requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}

// barred returns the pods, with copies of the chosen ones that admit no spot nodes.
func barred(pods []*corev1.Pod, chosen map[string]bool) []*corev1.Pod {
	return lo.Map(pods, func(pod *corev1.Pod, _ int) *corev1.Pod {
		if pod == nil || !chosen[ObjectName(pod)] {
			return pod
		}
		own := pod.DeepCopy()
		if own.Spec.Affinity == nil {
			own.Spec.Affinity = &corev1.Affinity{}
		}
		if own.Spec.Affinity.NodeAffinity == nil {
			own.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		noSpot := corev1.NodeSelectorRequirement{Key: offerings.CapacityTypeLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{string(offerings.Spot)}}
		terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{noSpot}}}
		if given := requiredTerms(own); given != nil {
			terms = lo.FilterMap(given, func(t corev1.NodeSelectorTerm, _ int) (corev1.NodeSelectorTerm, bool) {
				t.MatchExpressions = append(t.MatchExpressions, noSpot)
				return t, len(t.MatchExpressions)+len(t.MatchFields) > 1
			})
		}
		own.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
		return own
	})
}
