package scheduling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// Faults collects field errors of one object after another. Paths are built only for faults,
// because most objects have none.
type Faults struct {
	List []*FieldError
	// Object returns the path of the current object, e.g. "pods[shop/web-3]".
	Object func() string
}

// Add notes a fault of the field at a path within the current object.
func (f *Faults) Add(value, message, path string) {
	if f.Object != nil {
		switch object := f.Object(); {
		case path == "":
			path = object
		case path[0] == '[':
			path = object + path
		default:
			path = object + "." + path
		}
	}
	f.List = append(f.List, &FieldError{Path: path, Value: value, Message: message})
}

// Err returns the collected faults, sorted, each fault once; nil if there are none.
func (f *Faults) Err() error {
	f.List = slices.DeleteFunc(f.List, func(e *FieldError) bool { return e == nil })
	if len(f.List) == 0 {
		return nil
	}
	order := func(a, b *FieldError) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message), strings.Compare(a.Value, b.Value))
	}
	slices.SortFunc(f.List, order)
	f.List = slices.CompactFunc(f.List, func(a, b *FieldError) bool { return order(a, b) == 0 })
	return &FieldErrors{Errors: f.List}
}

// Unjoin returns the errors that errors.Join put together.
func Unjoin(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

// Field appends the key of a map to a path: .cpu, but [nvidia.com/gpu].
func Field(key string) string {
	if key == "" || strings.ContainsAny(key, "./[] ") {
		return "[" + key + "]"
	}
	return "." + key
}
