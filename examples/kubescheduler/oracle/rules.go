package oracle

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

type selector = requirements.Selector

// rules are a pool's requirements in kube-scheduler's own words, so that its own code
// can tell whether a node keeps them.
type rules struct {
	expressions []corev1.NodeSelectorRequirement
}

func newRules(pool *scheduling.NodePool) rules {
	var r rules
	for _, s := range pool.Spec.Template.Spec.Requirements {
		r.expressions = append(r.expressions, expression(s))
	}
	return r
}

// about are the rules on one label, whatever name they call it by.
func (r rules) about(key string) rules {
	var out rules
	for _, e := range r.expressions {
		if requirements.NormalizeKey(e.Key) == key {
			e.Key = key
			out.expressions = append(out.expressions, e)
		}
	}
	return out
}

// allow reports whether the node keeps all rules.
func (r rules) allow(node *corev1.Node) bool {
	if len(r.expressions) == 0 {
		return true
	}
	selector := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: r.expressions}},
	})
	ok, err := selector.Match(node)
	return ok && err == nil
}

// expression replaces the operators that only pools have, Gte and Lte.
func expression(s selector) corev1.NodeSelectorRequirement {
	switch s.Operator {
	case requirements.Gte:
		return shifted(s, corev1.NodeSelectorOpGt, -1)
	case requirements.Lte:
		return shifted(s, corev1.NodeSelectorOpLt, 1)
	}
	return corev1.NodeSelectorRequirement{Key: s.Key, Operator: s.Operator, Values: s.Values}
}

func shifted(s selector, op corev1.NodeSelectorOperator, by int64) corev1.NodeSelectorRequirement {
	e := corev1.NodeSelectorRequirement{Key: s.Key, Operator: op}
	for _, value := range s.Values {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			e.Values = append(e.Values, strconv.FormatInt(n+by, 10))
		}
	}
	return e
}
