package snapshot

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Selector is the conditions of a pod, or of its volumes, on the labels of its node: one of the terms must hold.
// Without terms none does.
type Selector []term

// term is a conjunction.
type term struct {
	Exprs  []Expression
	fields []corev1.NodeSelectorRequirement
}

// Expression is one condition on a label.
type Expression struct {
	Key    string
	op     corev1.NodeSelectorOperator
	values []string
}

// selectorOf reads nodeSelector and the required node affinity. A term that is empty or malformed matches no node, as
// in kube-scheduler.
func selectorOf(spec *corev1.PodSpec) Selector {
	var base []Expression
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		base = append(base, Expression{Key: key, op: requirements.In, values: []string{spec.NodeSelector[key]}})
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil ||
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return Selector{{Exprs: base}}
	}
	return alternatives(base, spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
}

// alternatives reads terms of which one must hold, each together with the base, which must hold in any case.
func alternatives(base []Expression, terms []corev1.NodeSelectorTerm) Selector {
	sel := Selector{}
	for _, t := range terms {
		_, err := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{t}})
		if err != nil || len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 {
			continue
		}
		exprs := slices.Clone(base)
		for _, e := range t.MatchExpressions {
			exprs = append(exprs, Expression{Key: e.Key, op: e.Operator, values: e.Values})
		}
		sel = append(sel, term{Exprs: exprs, fields: t.MatchFields})
	}
	return sel
}

// Holds evaluates the condition on the value of a label, or on its absence.
func (e Expression) Holds(value string, present bool) bool {
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
	n, also := strconv.ParseInt(value, 10, 64)
	return err == nil && also == nil && (e.op == requirements.Gt && n > limit || e.op == requirements.Lt && n < limit ||
		e.op == requirements.Gte && n >= limit || e.op == requirements.Lte && n <= limit)
}

func (e Expression) String() string {
	if len(e.values) == 0 {
		return fmt.Sprintf("%s %s", e.Key, e.op)
	}
	return fmt.Sprintf("%s %s %v", e.Key, e.op, e.values)
}

// FromSelectors reads the requirements of a NodePool or a launch.
func FromSelectors(selectors []requirements.Selector) []Expression {
	exprs := make([]Expression, len(selectors))
	for i, s := range selectors {
		exprs[i] = Expression{Key: s.Key, op: s.Operator, values: s.Values}
	}
	return exprs
}

// About returns the conditions on one label, under any of its names.
func About(key string, exprs []Expression) []Expression {
	var out []Expression
	for _, e := range exprs {
		if requirements.NormalizeKey(e.Key) == requirements.NormalizeKey(key) {
			out = append(out, e)
		}
	}
	return out
}

// Opening is the knowledge about a label whose value is not fixed: conditions that the value satisfies, and the
// quantifier.
type Opening struct {
	Rule  Quantifier
	Known []Expression
}

// Quantifier says how many of the values that an open label may take must satisfy the conditions of a pod.
type Quantifier int

// The quantifiers of open labels.
const (
	Shut  Quantifier = iota // the label is absent
	some                    // one value, since the launch can choose it
	Every                   // all values, since the provider chooses
)

// allows reports whether the values that the label may take satisfy the conditions, as its quantifier demands. It
// tries the values that a condition names, the integers next to them, one that no condition names, and no label at
// all, because all other values behave like one of these. Every demands that there is a value at least.
func (o Opening) allows(exprs []Expression) bool {
	found := false
	for _, c := range candidates(o.Known, exprs) {
		if !AllHold(o.Known, c) {
			continue
		}
		suits := AllHold(exprs, c)
		if suits != (o.Rule == Every) {
			return suits
		}
		found = true
	}
	return found && o.Rule == Every
}

// LabelValue is a value that an open label may take; absent is no label at all.
type LabelValue struct {
	Value  string
	absent bool
}

// AllHold reports whether a value meets every condition.
func AllHold(exprs []Expression, c LabelValue) bool {
	return !slices.ContainsFunc(exprs, func(e Expression) bool { return !e.Holds(c.Value, !c.absent) })
}

func candidates(lists ...[]Expression) []LabelValue {
	all := []LabelValue{{absent: true}, {Value: unnamed(lists...)}, {Value: "0"}}
	for _, exprs := range lists {
		for _, e := range exprs {
			for _, v := range e.values {
				all = append(all, LabelValue{Value: v})
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					continue
				}
				if n > 0 { // labels cannot start with a minus
					all = append(all, LabelValue{Value: strconv.FormatInt(n-1, 10)})
				}
				if n >= 0 && n < math.MaxInt64 {
					all = append(all, LabelValue{Value: strconv.FormatInt(n+1, 10)})
				}
			}
		}
	}
	return all
}

// unnamed returns a value that is no number and that no condition names.
func unnamed(lists ...[]Expression) string {
	value := "other"
	for slices.ContainsFunc(lists, func(exprs []Expression) bool {
		return slices.ContainsFunc(exprs, func(e Expression) bool { return slices.Contains(e.values, value) })
	}) {
		value += "x"
	}
	return value
}
