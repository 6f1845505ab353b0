package scheduling

import (
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// maxWeight bounds the weights of preferences.
const maxWeight = 100

// trail leads to an entry of a list within a pod spec. Its text is put together
// only for faults, of which most pods have none.
type trail struct {
	list  string
	index int
	rest  string
}

func (c *checker) text(t trail) string {
	return c.spec + "." + t.list + "[" + strconv.Itoa(t.index) + "]" + t.rest
}

// to leads further.
func (t trail) to(rest string) trail {
	t.rest += rest
	return t
}

// Lists of affinity terms.
const (
	nodeRequired      = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	nodePreferred     = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	podRequired       = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	podPreferred      = "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	antiRequired      = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	antiPreferred     = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	spreadConstraints = "topologySpreadConstraints"
)

// affinity checks what a pod says about nodes and other pods. kube-scheduler takes
// a faulty term for one that matches nothing; the API server does not let it in.
func (c *checker) affinity(a *corev1.Affinity) {
	if n := a.NodeAffinity; n != nil {
		if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			if len(required.NodeSelectorTerms) == 0 {
				c.add("", "needs at least one term", c.spec+"."+nodeRequired)
			}
			for i := range required.NodeSelectorTerms {
				c.nodeTerm(&required.NodeSelectorTerms[i], trail{list: nodeRequired, index: i})
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			at := trail{list: nodePreferred, index: i}
			c.weight(t.Weight, at)
			c.nodeTerm(&t.Preference, at.to(".preference"))
		}
	}
	if p := a.PodAffinity; p != nil {
		c.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, podRequired)
		c.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, podPreferred)
	}
	if p := a.PodAntiAffinity; p != nil {
		c.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, antiRequired)
		c.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, antiPreferred)
	}
}

func (c *checker) weight(weight int32, at trail) {
	if weight < 1 || weight > maxWeight {
		c.add(strconv.Itoa(int(weight)), "must lie between 1 and 100", c.text(at)+".weight")
	}
}

func (c *checker) podTerms(terms []corev1.PodAffinityTerm, list string) {
	for i := range terms {
		c.podTerm(&terms[i], trail{list: list, index: i})
	}
}

func (c *checker) weightedPodTerms(terms []corev1.WeightedPodAffinityTerm, list string) {
	for i := range terms {
		at := trail{list: list, index: i}
		c.weight(terms[i].Weight, at)
		c.podTerm(&terms[i].PodAffinityTerm, at.to(".podAffinityTerm"))
	}
}

func (c *checker) podTerm(t *corev1.PodAffinityTerm, at trail) {
	c.topologyKey(t.TopologyKey, at)
	c.selector(t.LabelSelector, at, ".labelSelector")
	c.selector(t.NamespaceSelector, at, ".namespaceSelector")
}

func (c *checker) topologyKey(key string, at trail) {
	switch {
	case key == "":
		c.add("", "is missing", c.text(at)+".topologyKey")
	case !labelKey(key):
		c.add(key, notALabelKey, c.text(at)+".topologyKey")
	}
}

// nodeTerm checks a term of a node selector.
func (c *checker) nodeTerm(t *corev1.NodeSelectorTerm, at trail) {
	for i := range t.MatchExpressions {
		if !plainExpression(&t.MatchExpressions[i]) {
			_, err := requirements.FromNodeSelector(t.MatchExpressions)
			c.selectors(err, c.text(at)+".matchExpressions")
			break
		}
	}
	for i := range t.MatchFields {
		f := &t.MatchFields[i]
		fault := func(value, message, field string) {
			c.add(value, message, c.text(at)+".matchFields["+strconv.Itoa(i)+"]."+field)
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

// selectors adds the faults that package requirements found, each below the path.
func (c *checker) selectors(err error, path string) {
	for _, e := range unjoin(err) {
		var fault *requirements.FieldError
		if !errors.As(e, &fault) {
			c.add("", e.Error(), path)
			continue
		}
		message := fault.Problem
		if fault.Key != "" {
			message = fmt.Sprintf("label %q: %s", fault.Key, fault.Problem)
		}
		c.add(fault.Value, message, path+fault.Path)
	}
}

// plainExpression reports whether an expression is certainly valid, without
// allocating. Where it is not so sure, package requirements decides.
func plainExpression(e *corev1.NodeSelectorRequirement) bool {
	if !labelKey(e.Key) {
		return false
	}
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		for _, v := range e.Values {
			if !labelValue(v) {
				return false
			}
		}
		return len(e.Values) > 0
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		return len(e.Values) == 0
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(e.Values) != 1 || e.Values[0] == "" || len(e.Values[0]) > 18 {
			return false
		}
		for _, digit := range []byte(e.Values[0]) {
			if digit < '0' || digit > '9' {
				return false
			}
		}
		return true
	default:
		return false
	}
}
