package verify

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// selector is what a pod asks of its node's labels: one of the terms has to hold.
type selector []term

// term is a conjunction.
type term struct {
	exprs  []expression
	fields []corev1.NodeSelectorRequirement
}

// expression is one condition on a label.
type expression struct {
	key    string
	op     corev1.NodeSelectorOperator
	values []string
}

// selectorOf reads nodeSelector and the required node affinity. As in
// kube-scheduler, a term that is empty or has a malformed expression matches nothing.
func selectorOf(spec *corev1.PodSpec) selector {
	var base []expression
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		base = append(base, expression{key: key, op: requirements.In, values: []string{spec.NodeSelector[key]}})
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil ||
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return selector{{exprs: base}}
	}
	return alternatives(base, spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
}

// alternatives reads terms of which one has to hold, each together with what has to
// hold anyway.
func alternatives(base []expression, terms []corev1.NodeSelectorTerm) selector {
	sel := selector{}
	for _, t := range terms {
		if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 || !wellFormed(t.MatchExpressions) {
			continue
		}
		exprs := slices.Clone(base)
		for _, e := range t.MatchExpressions {
			exprs = append(exprs, expression{key: e.Key, op: e.Operator, values: e.Values})
		}
		sel = append(sel, term{exprs: exprs, fields: t.MatchFields})
	}
	return sel
}

func wellFormed(exprs []corev1.NodeSelectorRequirement) bool {
	return !slices.ContainsFunc(exprs, func(e corev1.NodeSelectorRequirement) bool {
		if len(validation.IsQualifiedName(e.Key)) > 0 {
			return true
		}
		if slices.ContainsFunc(e.Values, func(v string) bool { return len(validation.IsValidLabelValue(v)) > 0 }) {
			return true
		}
		switch e.Operator {
		case requirements.In, requirements.NotIn:
			return len(e.Values) == 0
		case requirements.Exists, requirements.DoesNotExist:
			return len(e.Values) > 0
		case requirements.Gt, requirements.Lt:
			if len(e.Values) != 1 {
				return true
			}
			_, err := strconv.ParseInt(e.Values[0], 10, 64)
			return err != nil
		default:
			return true
		}
	})
}

// holds evaluates the condition on the value of a label, or on its absence.
func (e expression) holds(value string, present bool) bool {
	switch e.op {
	case requirements.In:
		return present && slices.Contains(e.values, value)
	case requirements.NotIn:
		return !present || !slices.Contains(e.values, value)
	case requirements.Exists:
		return present
	case requirements.DoesNotExist:
		return !present
	}
	if !present || len(e.values) != 1 {
		return false
	}
	limit, err := strconv.ParseInt(e.values[0], 10, 64)
	if err != nil {
		return false
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	switch e.op {
	case requirements.Gt:
		return n > limit
	case requirements.Lt:
		return n < limit
	case requirements.Gte:
		return n >= limit
	case requirements.Lte:
		return n <= limit
	default:
		return false
	}
}

// fromSelectors reads the requirements of a NodePool or a launch.
func fromSelectors(selectors []requirements.Selector) []expression {
	exprs := make([]expression, len(selectors))
	for i, s := range selectors {
		exprs[i] = expression{key: s.Key, op: s.Operator, values: s.Values}
	}
	return exprs
}

// about returns the conditions on one label, under any of its names.
func about(key string, exprs []expression) []expression {
	var out []expression
	for _, e := range exprs {
		if requirements.NormalizeKey(e.key) == requirements.NormalizeKey(key) {
			out = append(out, e)
		}
	}
	return out
}
