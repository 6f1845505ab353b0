package requirements

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Limits that Karpenter sets for the requirements of a NodePool.
const (
	maxSelectors = 100
	maxMinValues = 50
)

// check finds the faults for which key, op and values are no requirement.
func check(key string, op Operator, values []string) faults {
	f := faults{key: key}
	if key == "" {
		f.add("key", "", "must not be empty")
	}
	switch op {
	case In:
		if len(values) == 0 {
			f.add("values", "", "operator In needs at least one value")
		}
	case NotIn:
	case Exists, DoesNotExist:
		if len(values) > 0 {
			f.add("values", strings.Join(values, " "), "operator "+string(op)+" takes no values")
		}
	case Gt, Lt, Gte, Lte:
		if len(values) != 1 {
			f.add("values", strings.Join(values, " "), fmt.Sprintf("operator %s takes exactly one value, not %d", op, len(values)))
		}
		for i, v := range values {
			if _, ok := parseInt(v); !ok {
				f.add(valuePath(i), v, "operator "+string(op)+" needs an integer of 64 bits")
			}
		}
	default:
		f.add("operator", string(op), "must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte")
	}
	return f
}

// syntax adds the keys and values that Kubernetes accepts on no node, except for the ones that
// check has found faulty already.
func (f *faults) syntax(op Operator, values []string) {
	if f.key != "" && len(validation.IsQualifiedName(f.key)) > 0 {
		f.add("key", "", "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, "+
			"'-', '_' or '.' with a letter or digit at both ends")
	}
	for i, v := range values {
		if _, ok := parseInt(v); !ok && comparison(op) {
			continue
		}
		if len(validation.IsValidLabelValue(v)) > 0 {
			f.add(valuePath(i), v, "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends")
		}
	}
}

// Validate applies the rules for an entry of a NodePool, stricter than those of
// [Selector.Requirement]: a key and values that are valid in labels, a key that is not [Restricted]
// and not that of the NodePool itself, no negative number in a comparison, minValues from 1 to 50
// and not above the number of values listed, and at least one value (or minValues of them) that the
// label can have, where its values are known: capacity types and tenancies. Errors are
// [*SelectorError], joined when there are several.
func (s Selector) Validate() error {
	f := s.validate()
	return f.err()
}

func (s Selector) validate() faults {
	f := check(s.Key, s.Operator, s.Values)
	f.syntax(s.Operator, s.Values)
	switch key := NormalizeKey(s.Key); {
	case key == NodePoolKey:
		f.add("key", "", "is set by the NodePool itself and may not be required")
	case Restricted(key):
		f.add("key", "", "is restricted: its value follows from the instance type and zone")
	}
	if comparison(s.Operator) && len(s.Values) == 1 {
		// Label syntax refuses the minus sign, too, but does not say why.
		if n, ok := parseInt(s.Values[0]); ok && n < 0 {
			f.list = slices.DeleteFunc(f.list, func(e *SelectorError) bool { return e.Path == valuePath(0) })
			f.add(valuePath(0), s.Values[0], "operator "+string(s.Operator)+" needs an integer that is not negative")
		}
	}
	s.validateFloor(&f)
	return f
}

// validateFloor adds the faults of minValues and of known values.
func (s Selector) validateFloor(f *faults) {
	floor := 1
	if s.MinValues != nil {
		floor = *s.MinValues
		if floor < 1 || floor > maxMinValues {
			f.add("minValues", strconv.Itoa(floor), fmt.Sprintf("must lie between 1 and %d", maxMinValues))
		}
	}
	if s.Operator != In || len(s.Values) == 0 {
		return
	}
	listed := len(sortedValues(s.Key, s.Values))
	if listed < floor {
		f.add("minValues", strconv.Itoa(floor), fmt.Sprintf("is more than the %d different values listed", listed))
		return
	}
	floor = max(floor, 1)
	if unknown := s.UnknownValues(); len(unknown) > 0 && listed-len(unknown) < floor {
		f.add("values", strings.Join(s.Values, " "), fmt.Sprintf("needs at least %d of the values %s", floor,
			strings.Join(knownValues(NormalizeKey(s.Key)), ", ")))
	}
}

// UnknownValues returns the values of an [In], sorted, that its label never has: tenancies of other
// names, and capacity types that are misspelt (see [Misspelt]). An entry that lists unknown values
// beside known ones is valid, but deserves a warning.
func (s Selector) UnknownValues() []string {
	key := NormalizeKey(s.Key)
	if s.Operator != In {
		return nil
	}
	return keep(sortedValues(s.Key, s.Values), func(v string) bool {
		_, misspelt := Misspelt(key, v)
		return misspelt || key == TenancyKey && !slices.Contains(tenancies, v)
	})
}

// ValidateSelectors applies [Selector.Validate] to the requirements of a
// NodePool, of which there may be 100. Paths start with the index of the entry.
func ValidateSelectors(sel []Selector) error {
	var list []*SelectorError
	if len(sel) > maxSelectors {
		list = append(list, &SelectorError{
			Path: fmt.Sprintf("[%d]", maxSelectors), Problem: fmt.Sprintf("at most %d requirements are allowed, not %d", maxSelectors, len(sel)),
		})
	}
	for i, s := range sel {
		f := s.validate()
		list = append(list, f.within(i)...)
	}
	return joinFaults(list)
}

// SelectorError is one fault in a requirement that a user wrote.
type SelectorError struct {
	// Path leads to the field, from the value that was given: "operator",
	// "values[1]", or "[3].values[1]" within a list.
	Path string
	// Key is the label key of the faulty requirement, as written.
	Key string
	// Value is the faulty value; empty when something is missing.
	Value string
	// Problem states the fault, without naming field or value.
	Problem string
}

// Error names the field, the key, the fault and the value.
func (e *SelectorError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Key != "" {
		fmt.Fprintf(&b, " of %q", e.Key)
	}
	b.WriteString(": " + e.Problem)
	if e.Value != "" {
		fmt.Fprintf(&b, ": %q", e.Value)
	}
	return b.String()
}

// faults collects the faults of one requirement.
type faults struct {
	key  string
	list []*SelectorError
}

func (f *faults) add(path, value, problem string) {
	f.list = append(f.list, &SelectorError{Path: path, Key: f.key, Value: value, Problem: problem})
}

// err returns the collected faults as one error, nil when there are none.
func (f *faults) err() error { return joinFaults(f.list) }

// within puts the index of the requirement in its list before every path.
func (f *faults) within(index int) []*SelectorError {
	for _, e := range f.list {
		e.Path = "[" + strconv.Itoa(index) + "]." + e.Path
	}
	return f.list
}

func joinFaults(list []*SelectorError) error {
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return joinErrors(errs)
}

// joinErrors does without the wrapper where there is one error only.
func joinErrors(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

func valuePath(i int) string { return "values[" + strconv.Itoa(i) + "]" }
