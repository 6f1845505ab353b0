package requirements

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Selector is the YAML and JSON form of one requirement of a NodePool. Several
// entries of one key intersect.
type Selector struct {
	// Key is the label key; alias keys are accepted.
	Key string `json:"key"`
	// Operator relates the key to the values.
	Operator Operator `json:"operator"`
	// Values are the operands, as many as the operator takes.
	Values []string `json:"values,omitempty"`
	// MinValues is how many different values of the key the instance types of a launch must keep
	// open; nil is no minimum.
	MinValues *int `json:"minValues,omitempty"`
}

// Requirement converts s under the rules of [New]; beyond them minValues must
// not be negative. [Selector.Validate] has the further rules for NodePools.
func (s Selector) Requirement() (Requirement, error) {
	if f := s.check(); len(f.list) > 0 {
		return Requirement{}, f.err()
	}
	return s.build(), nil
}

func (s Selector) check() faults {
	f := check(s.Key, s.Operator, s.Values)
	if s.MinValues != nil && *s.MinValues < 0 {
		f.add("minValues", strconv.Itoa(*s.MinValues), "must not be negative")
	}
	return f
}

func (s Selector) build() Requirement {
	r := build(s.Key, s.Operator, s.Values)
	if s.MinValues != nil {
		r.minValues = *s.MinValues
	}
	return r
}

// FromSelectors returns the conjunction of the entries, under the rules of
// [Selector.Requirement]. The paths of errors start with the index of the entry.
func FromSelectors(sel []Selector) (Set, error) {
	var list []*SelectorError
	reqs := make([]Requirement, 0, len(sel))
	for i, s := range sel {
		if f := s.check(); len(f.list) > 0 {
			list = append(list, f.within(i)...)
			continue
		}
		reqs = append(reqs, s.build())
	}
	if len(list) > 0 {
		return Set{}, joinFaults(list)
	}
	return NewSet(reqs...), nil
}

// FromNodeSelector returns the conjunction of the matchExpressions of one term of a node selector.
// It accepts the terms that kube-scheduler accepts: not [Gte] and [Lte], no [NotIn] without values,
// only keys and values that are valid in labels (which rules out negative numbers). kube-scheduler
// lets a term with an error match no node, and likewise a term without any expression, for which
// this function returns the set that allows everything.
func FromNodeSelector(exprs []corev1.NodeSelectorRequirement) (Set, error) {
	var list []*SelectorError
	reqs := make([]Requirement, 0, len(exprs))
	for i, e := range exprs {
		f := check(e.Key, e.Operator, e.Values)
		f.syntax(e.Operator, e.Values)
		switch {
		case e.Operator == Gte || e.Operator == Lte:
			f.add("operator", string(e.Operator), "is known on NodePools only, not in node affinity")
		case e.Operator == NotIn && len(e.Values) == 0:
			f.add("values", "", "operator NotIn needs at least one value")
		}
		if len(f.list) > 0 {
			list = append(list, f.within(i)...)
			continue
		}
		reqs = append(reqs, build(e.Key, e.Operator, e.Values))
	}
	if len(list) > 0 {
		return Set{}, joinFaults(list)
	}
	return NewSet(reqs...), nil
}

// Selector returns r as entries whose conjunction is exactly r: bounds become [Gte] and [Lte],
// exclusions a [NotIn] beside them, and a contradiction the pair [Exists] and [DoesNotExist]. Each
// entry carries minValues.
func (r Requirement) Selector() []Selector {
	var out []Selector
	add := func(op Operator, values ...string) {
		s := Selector{Key: r.key, Operator: op, Values: values}
		if floor := r.minValues; floor > 0 {
			s.MinValues = &floor
		}
		out = append(out, s)
	}
	switch {
	case r.listed && len(r.values) > 0:
		add(In, r.Values()...)
		return out
	case r.listed && r.present:
		add(Exists)
		add(DoesNotExist)
		return out
	case r.listed:
		add(DoesNotExist)
		return out
	}
	if r.hasLower() {
		add(Gte, strconv.FormatInt(r.lower, 10))
	}
	if r.hasUpper() {
		add(Lte, strconv.FormatInt(r.upper, 10))
	}
	if r.present && !r.numeric {
		add(Exists)
	}
	if len(r.values) > 0 || !r.present {
		add(NotIn, r.Values()...)
	}
	return out
}

// Selectors returns s as entries, in the order of the keys, whose conjunction is s again.
func (s Set) Selectors() []Selector {
	var out []Selector
	for _, r := range s.reqs {
		out = append(out, r.Selector()...)
	}
	return out
}
