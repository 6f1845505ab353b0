package spotshare

import (
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// admitted reports whether the node selector and the required node affinity of a pod admit spot nodes, and nodes of some
// other capacity type, as far as they are about the capacity type.
func admitted(pod *corev1.Pod) (spot, other bool) {
	if value, ok := pod.Spec.NodeSelector[offerings.CapacityTypeLabel]; ok {
		spot, other = value == string(offerings.Spot), value != string(offerings.Spot)
	} else {
		spot, other = true, true
	}
	required := requiredNodes(pod)
	if required == nil {
		return spot, other
	}
	var termSpot, termOther bool
	for i := range required.NodeSelectorTerms {
		s, o := admittedByTerm(&required.NodeSelectorTerms[i])
		termSpot, termOther = termSpot || s, termOther || o
	}
	return spot && termSpot, other && termOther
}

// admittedByTerm is as admitted, for a term of a node selector.
func admittedByTerm(t *corev1.NodeSelectorTerm) (spot, other bool) {
	if matchesNothing(t) {
		return false, false
	}
	set, err := requirements.FromNodeSelector(lo.Filter(t.MatchExpressions, func(e corev1.NodeSelectorRequirement, _ int) bool {
		return e.Key == offerings.CapacityTypeLabel
	}))
	if err != nil { // e.g. Gt with a text, which matches no node
		return false, false
	}
	r := set.Get(offerings.CapacityTypeLabel)
	other = r.AllowsAbsent() || r.Complement() || slices.ContainsFunc(r.Values(), func(v string) bool { return v != string(offerings.Spot) })
	return r.Has(string(offerings.Spot)), other
}

// matchesNothing reports whether a term has no expressions: to Kubernetes such a term matches no node.
func matchesNothing(t *corev1.NodeSelectorTerm) bool {
	return len(t.MatchExpressions)+len(t.MatchFields) == 0
}

// requiredNodes is the required node affinity of a pod; nil for none.
func requiredNodes(pod *corev1.Pod) *corev1.NodeSelector {
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// withoutSpot is a copy of a pod that requires that its node is no spot node. It shares all other fields with the pod.
func withoutSpot(pod *corev1.Pod) *corev1.Pod {
	noSpot := corev1.NodeSelectorRequirement{Key: offerings.CapacityTypeLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{string(offerings.Spot)}}
	terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{noSpot}}}
	if required := requiredNodes(pod); required != nil {
		terms = slices.Clone(required.NodeSelectorTerms)
		for i := range terms {
			if t := &terms[i]; !matchesNothing(t) {
				t.MatchExpressions = append(slices.Clip(t.MatchExpressions), noSpot)
			}
		}
	}
	out, affinity, nodes := *pod, corev1.Affinity{}, corev1.NodeAffinity{}
	if a := pod.Spec.Affinity; a != nil {
		if affinity = *a; a.NodeAffinity != nil {
			nodes = *a.NodeAffinity
		}
	}
	nodes.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	affinity.NodeAffinity = &nodes
	out.Spec.Affinity = &affinity
	return &out
}
