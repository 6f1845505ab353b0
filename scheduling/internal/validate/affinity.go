package validate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// maxWeight bounds weights of preferences and of NodePools, as the API server and Karpenter do.
const maxWeight = 100

// specPath is the path of a list entry within a pod spec. It becomes text only for a fault, because most pods
// have none.
type specPath struct {
	list  string
	index int
	rest  string
}

func (c *Checker) text(t specPath) string {
	return c.spec + "." + t.list + "[" + strconv.Itoa(t.index) + "]" + t.rest
}

// to extends the path.
func (t specPath) to(rest string) specPath {
	t.rest += rest
	return t
}

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
func (c *Checker) affinity(a *corev1.Affinity) {
	if n := a.NodeAffinity; n != nil {
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			if len(required.NodeSelectorTerms) == 0 {
				c.Add("", "needs at least one term", c.spec+"."+NodeRequired)
			}
			for i := range required.NodeSelectorTerms {
				c.nodeTerm(&required.NodeSelectorTerms[i], specPath{list: NodeRequired, index: i})
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			at := specPath{list: NodePreferred, index: i}
			c.weight(t.Weight, at)
			c.nodeTerm(&t.Preference, at.to(".preference"))
		}
	}
	if p := a.PodAffinity; p != nil {
		c.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, PodRequired)
		c.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, PodPreferred)
	}
	if p := a.PodAntiAffinity; p != nil {
		c.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, AntiRequired)
		c.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, antiPreferred)
	}
}

func (c *Checker) weight(weight int32, at specPath) {
	if weight < 1 || weight > maxWeight {
		c.Add(strconv.Itoa(int(weight)), "must lie between 1 and 100", c.text(at)+".weight")
	}
}

func (c *Checker) podTerms(terms []corev1.PodAffinityTerm, list string) {
	for i := range terms {
		c.podTerm(&terms[i], specPath{list: list, index: i})
	}
}

func (c *Checker) weightedPodTerms(terms []corev1.WeightedPodAffinityTerm, list string) {
	for i := range terms {
		at := specPath{list: list, index: i}
		c.weight(terms[i].Weight, at)
		c.podTerm(&terms[i].PodAffinityTerm, at.to(".podAffinityTerm"))
	}
}

func (c *Checker) podTerm(t *corev1.PodAffinityTerm, at specPath) {
	if message := keyFault(t.TopologyKey); message != "" {
		c.Add(t.TopologyKey, message, c.text(at)+".topologyKey")
	}
	c.selector(t.LabelSelector, at, ".labelSelector")
	c.selector(t.NamespaceSelector, at, ".namespaceSelector")
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
func (c *Checker) nodeTerm(t *corev1.NodeSelectorTerm, at specPath) {
	if slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return !PlainExpression(&e) }) {
		_, err := requirements.FromNodeSelector(withNumbers(t.MatchExpressions))
		c.selectors(err, c.text(at)+".matchExpressions")
	}
	for i := range t.MatchFields {
		f := &t.MatchFields[i]
		fault := func(value, message, field string) {
			c.Add(value, message, c.text(at)+".matchFields["+strconv.Itoa(i)+"]."+field)
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

// selectors adds the faults found by package requirements, each below the path.
func (c *Checker) selectors(err error, path string) {
	for _, e := range scheduling.Unjoin(err) {
		var fault *requirements.FieldError
		if !errors.As(e, &fault) {
			c.Add("", e.Error(), path)
			continue
		}
		message := fault.Problem
		if fault.Key != "" {
			message = fmt.Sprintf("label %q: %s", fault.Key, fault.Problem)
		}
		c.Add(fault.Value, message, path+fault.Path)
	}
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
