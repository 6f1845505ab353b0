package scheduling

import (
	"fmt"
	"strings"
)

// FieldError is one fault in one field of one object. It wraps [ErrInvalid].
type FieldError struct {
	// Path leads to the field by the names of objects, e.g.
	// "pods[shop/web-3].spec.containers[0].resources.requests.cpu".
	Path string
	// Value is the faulty value as it was given; empty where a field is missing or where the path
	// includes it.
	Value string
	// Message states the fault, without naming field or value.
	Message string
}

// Error names the path, the fault and the value.
func (e *FieldError) Error() string {
	if e.Value == "" {
		return e.Path + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s: %q", e.Path, e.Message, e.Value)
}

// Unwrap returns [ErrInvalid].
func (e *FieldError) Unwrap() error { return ErrInvalid }

// FieldErrors are all faults that were found, in the order of the paths. errors.Is finds
// [ErrInvalid] in it, and errors.As the first [*FieldError].
type FieldErrors struct {
	Errors []*FieldError
}

// Error lists all faults, one on each line.
func (e *FieldErrors) Error() string {
	var b strings.Builder
	if len(e.Errors) != 1 {
		fmt.Fprintf(&b, "%d faults:", len(e.Errors))
	}
	for _, f := range e.Errors {
		if f == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(f.Error())
	}
	return b.String()
}

// Unwrap returns the faults.
func (e *FieldErrors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, f := range e.Errors {
		errs[i] = f
	}
	return errs
}
