package requirements

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// FieldError is one fault in what a user wrote as a requirement.
type FieldError struct {
	// Path leads to the field, from the value that was given: "operator",
	// "values[1]", or "[3].values[1]" within a list.
	Path string
	// Key is the label key of the faulty requirement, as written.
	Key string
	// Value is the faulty value; empty when something is missing.
	Value string
	// Problem says what is wrong, without naming field or value.
	Problem string
}

// Error names the field, the key, the fault and the value.
func (e *FieldError) Error() string {
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

// join makes one error of the faults, with prefix before their paths.
func join(prefix string, faults []*FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	errs := make([]error, len(faults))
	for i, f := range faults {
		if prefix != "" {
			f.Path = prefix + "." + f.Path
		}
		errs[i] = f
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// check finds what keeps key, op and values from being a requirement.
func check(key string, op Operator, values []string) []*FieldError {
	var faults []*FieldError
	fault := func(path, value, problem string) {
		faults = append(faults, &FieldError{Path: path, Key: key, Value: value, Problem: problem})
	}
	if key == "" {
		fault("key", "", "must not be empty")
	}
	switch {
	case op == In:
		if len(values) == 0 {
			fault("values", "", "operator In needs at least one value")
		}
	case op == NotIn:
	case op == Exists || op == DoesNotExist:
		if len(values) > 0 {
			fault("values", strings.Join(values, " "), "operator "+string(op)+" takes no values")
		}
	case comparison(op):
		if len(values) != 1 {
			fault("values", strings.Join(values, " "), fmt.Sprintf("operator %s takes exactly one value, not %d", op, len(values)))
		}
		for i, v := range values {
			if _, ok := parseInt(v); !ok {
				fault(valuePath(i), v, "operator "+string(op)+" needs an integer of 64 bits")
			}
		}
	default:
		fault("operator", string(op), "must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte")
	}
	return faults
}

// checkSyntax finds keys and values that Kubernetes accepts on no node.
func checkSyntax(key string, values []string) []*FieldError {
	var faults []*FieldError
	if key != "" {
		for _, problem := range validation.IsQualifiedName(key) {
			faults = append(faults, &FieldError{Path: "key", Value: key, Problem: problem})
		}
	}
	for i, v := range values {
		for _, problem := range validation.IsValidLabelValue(v) {
			faults = append(faults, &FieldError{Path: valuePath(i), Key: key, Value: v, Problem: problem})
		}
	}
	return faults
}

func valuePath(i int) string { return "values[" + strconv.Itoa(i) + "]" }
