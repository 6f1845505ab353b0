package requirements

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// faults collects what is wrong with one requirement.
type faults struct {
	key  string
	list []*FieldError
}

func (f *faults) add(path, value, problem string) {
	f.list = append(f.list, &FieldError{Path: path, Key: f.key, Value: value, Problem: problem})
}

// err returns the collected faults as one error, nil when there are none.
func (f *faults) err() error { return joinFaults(f.list) }

// within puts the index of the requirement in its list before every path.
func (f *faults) within(index int) []*FieldError {
	for _, e := range f.list {
		e.Path = "[" + strconv.Itoa(index) + "]." + e.Path
	}
	return f.list
}

func joinFaults(list []*FieldError) error {
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
