package requirements

import (
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Selector is the YAML and JSON form of one requirement of a NodePool. Several
// entries of one key intersect.
type Selector struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
	// MinValues is how many different values of the key the instance types of a
	// launch must keep open; nil asks for nothing.
	MinValues *int `json:"minValues,omitempty"`
}

// Requirement converts s, under the rules of [New]; minValues must not be
// negative. [Selector.Validate] has the further rules for NodePools.
func (s Selector) Requirement() (Requirement, error) {
	faults := s.faults()
	if len(faults) > 0 {
		return Requirement{}, join("", faults)
	}
	return s.build(), nil
}

func (s Selector) faults() []*FieldError {
	faults := check(s.Key, s.Operator, s.Values)
	if s.MinValues != nil && *s.MinValues < 0 {
		faults = append(faults, &FieldError{
			Path: "minValues", Key: s.Key, Value: strconv.Itoa(*s.MinValues), Problem: "must not be negative",
		})
	}
	return faults
}

func (s Selector) build() Requirement {
	r := build(s.Key, s.Operator, s.Values)
	if s.MinValues != nil {
		r.minValues = *s.MinValues
	}
	return r
}

// FromSelectors returns the conjunction of the entries. The paths of errors
// start with the index of the entry.
func FromSelectors(sel []Selector) (Set, error) {
	var errs []error
	reqs := make([]Requirement, 0, len(sel))
	for i, s := range sel {
		if faults := s.faults(); len(faults) > 0 {
			errs = append(errs, join(fmt.Sprintf("[%d]", i), faults))
			continue
		}
		reqs = append(reqs, s.build())
	}
	if len(errs) > 0 {
		return Set{}, errors.Join(errs...)
	}
	return NewSet(reqs...), nil
}

// FromNodeSelector returns the conjunction of the matchExpressions of one term
// of a node selector. It accepts what kube-scheduler accepts: not [Gte] and
// [Lte], no [In] or [NotIn] without values, only keys and values that are valid
// in labels. kube-scheduler lets a term with an error match no node, and
// likewise a term without any expression, for which this returns the empty set.
func FromNodeSelector(exprs []corev1.NodeSelectorRequirement) (Set, error) {
	var errs []error
	reqs := make([]Requirement, 0, len(exprs))
	for i, e := range exprs {
		faults := append(check(e.Key, e.Operator, e.Values), checkSyntax(e.Key, e.Values)...)
		switch {
		case e.Operator == Gte || e.Operator == Lte:
			faults = append(faults, &FieldError{
				Path: "operator", Key: e.Key, Value: string(e.Operator), Problem: "is known on NodePools only, not in node affinity",
			})
		case e.Operator == NotIn && len(e.Values) == 0:
			faults = append(faults, &FieldError{Path: "values", Key: e.Key, Problem: "operator NotIn needs at least one value"})
		}
		if len(faults) > 0 {
			errs = append(errs, join(fmt.Sprintf("[%d]", i), faults))
			continue
		}
		reqs = append(reqs, build(e.Key, e.Operator, e.Values))
	}
	if len(errs) > 0 {
		return Set{}, errors.Join(errs...)
	}
	return NewSet(reqs...), nil
}

// Selector returns r as entries whose conjunction is r again, nothing lost:
// bounds become [Gte] and [Lte], exclusions a [NotIn] beside them, and a
// contradiction the pair [Exists] and [DoesNotExist]. Each entry carries the
// floor of different values.
func (r Requirement) Selector() []Selector {
	var out []Selector
	add := func(op Operator, values ...string) {
		s := Selector{Key: r.key, Operator: op, Values: values}
		if r.minValues > 0 {
			s.MinValues = &r.minValues
		}
		out = append(out, s)
	}
	switch {
	case r.listed && len(r.values) > 0:
		add(In, r.Values()...)
		return out
	case r.listed:
		if r.present {
			add(Exists)
		}
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
