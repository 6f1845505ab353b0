package validate

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// maxWeight bounds weights of preferences and of NodePools, as the API server and Karpenter do.
const maxWeight = 100

// Paths of lists of affinity terms within a pod spec.
const (
	NodeRequired      = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	NodePreferred     = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	PodRequired       = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	PodPreferred      = "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	AntiRequired      = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	antiPreferred     = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	spreadConstraints = "topologySpreadConstraints"
)

// affinity checks node and pod affinity. The API server rejects a faulty term; kube-scheduler would let it
// match no node or pod.
func (s *podSpecChecker) affinity(a *corev1.Affinity) {
	if n := a.NodeAffinity; n != nil {
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			if len(required.NodeSelectorTerms) == 0 {
				s.faults.Add("", "needs at least one term", s.path+"."+NodeRequired)
			}
			for i := range required.NodeSelectorTerms {
				s.nodeTerm(&required.NodeSelectorTerms[i], specPath{list: NodeRequired, index: i})
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			at := specPath{list: NodePreferred, index: i}
			s.weight(t.Weight, at)
			s.nodeTerm(&t.Preference, at.to(".preference"))
		}
	}
	if p := a.PodAffinity; p != nil {
		s.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, PodRequired)
		s.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, PodPreferred)
	}
	if p := a.PodAntiAffinity; p != nil {
		s.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, AntiRequired)
		s.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, antiPreferred)
	}
}

func (s *podSpecChecker) weight(weight int32, at specPath) {
	if weight < 1 || weight > maxWeight {
		s.faults.Add(strconv.Itoa(int(weight)), "must lie between 1 and 100", s.text(at)+".weight")
	}
}

func (s *podSpecChecker) podTerms(terms []corev1.PodAffinityTerm, list string) {
	for i := range terms {
		s.podTerm(&terms[i], specPath{list: list, index: i})
	}
}

func (s *podSpecChecker) weightedPodTerms(terms []corev1.WeightedPodAffinityTerm, list string) {
	for i := range terms {
		at := specPath{list: list, index: i}
		s.weight(terms[i].Weight, at)
		s.podTerm(&terms[i].PodAffinityTerm, at.to(".podAffinityTerm"))
	}
}

func (s *podSpecChecker) podTerm(t *corev1.PodAffinityTerm, at specPath) {
	if message := keyFault(t.TopologyKey); message != "" {
		s.faults.Add(t.TopologyKey, message, s.text(at)+".topologyKey")
	}
	s.selector(t.LabelSelector, at, ".labelSelector")
	s.selector(t.NamespaceSelector, at, ".namespaceSelector")
}

// keyFault returns the fault of a topology key; "" for none.
func keyFault(key string) string {
	switch {
	case key == "":
		return "is missing"
	case !LabelKey(key):
		return NotALabelKey
	}
	return ""
}

// nodeTerm checks a term of a node selector.
func (s *podSpecChecker) nodeTerm(t *corev1.NodeSelectorTerm, at specPath) {
	if slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return !PlainExpression(&e) }) {
		_, err := requirements.FromNodeSelector(withNumbers(t.MatchExpressions))
		selectorFaults(s.faults, err, s.text(at)+".matchExpressions")
	}
	for i := range t.MatchFields {
		f := &t.MatchFields[i]
		fault := func(value, message, field string) {
			s.faults.Add(value, message, s.text(at)+".matchFields["+strconv.Itoa(i)+"]."+field)
		}
		if f.Key != metav1.ObjectNameField {
			fault(f.Key, "must be metadata.name", "key")
		}
		if f.Operator != corev1.NodeSelectorOpIn && f.Operator != corev1.NodeSelectorOpNotIn {
			fault(string(f.Operator), "must be In or NotIn", "operator")
		}
		if len(f.Values) != 1 {
			fault("", fmt.Sprintf("needs exactly one value, not %d", len(f.Values)), "values")
		}
	}
}

// withNumbers replaces the value of Gt and Lt by a number where it is only a label value, e.g. Gt "1.5",
// because the API server admits that and the term then matches no node.
func withNumbers(list []corev1.NodeSelectorRequirement) []corev1.NodeSelectorRequirement {
	out := slices.Clone(list)
	for i := range out {
		e := &out[i]
		if (e.Operator == corev1.NodeSelectorOpGt || e.Operator == corev1.NodeSelectorOpLt) && len(e.Values) == 1 && LabelValue(e.Values[0]) {
			e.Values = []string{"0"}
		}
	}
	return out
}

// PlainExpression reports whether an expression is certainly valid, without allocating. For other expressions
// package requirements decides.
func PlainExpression(e *corev1.NodeSelectorRequirement) bool {
	if !LabelKey(e.Key) {
		return false
	}
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		for _, v := range e.Values {
			if !LabelValue(v) {
				return false
			}
		}
		return len(e.Values) > 0
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		return len(e.Values) == 0
	default:
		return false
	}
}
