package manifest

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// maxFaults bounds how many faults are collected before reading stops, so that a
// large file of the wrong kind does not fill the screen.
const maxFaults = 20

// Location says where in the input an object stands.
type Location struct {
	// Source is the name of the file, or "stdin".
	Source string
	// Document counts the documents of a YAML file or the values of a JSON file, from 1.
	Document int
	// Item is the index in a list, -1 for an object that stands alone.
	Item int
	// Line is the line on which the object begins, from 1; 0 where it is not known,
	// as in JSON.
	Line int
}

// String returns the location for people: "shop.yaml: document 2, line 14".
func (l Location) String() string {
	var b strings.Builder
	b.WriteString(l.Source)
	sep := ": "
	part := func(format string, n int) {
		b.WriteString(sep)
		fmt.Fprintf(&b, format, n)
		sep = ", "
	}
	if l.Document > 0 {
		part("document %d", l.Document)
	}
	if l.Document > 0 && l.Item >= 0 {
		part("items[%d]", l.Item)
	}
	if l.Line > 0 {
		part("line %d", l.Line)
	}
	return b.String()
}

// FaultKind is the kind of a fault.
type FaultKind string

// The reasons.
const (
	Invalid               = FaultKind(documents.Invalid)    // a value that an object must not have
	Unreadable            = FaultKind(documents.Unreadable) // the source cannot be read to its end
	NotText               = FaultKind(documents.NotText)    // the file is compressed, binary, or in another encoding
	BadSyntax             = FaultKind(documents.BadSyntax)  // neither YAML nor JSON
	Template              = FaultKind(documents.Template)   // of Helm or the like, not rendered yet
	NoObject              = FaultKind(documents.NoObject)   // not an object of Kubernetes, e.g. the values of a chart
	Kustomize   FaultKind = "kustomize"                     // a recipe of kustomize, or a patch that one names
	UnknownKind FaultKind = "unknown kind"                  // may stand for pods that the plan would miss
	Duplicate   FaultKind = "duplicate"                     // an object of that kind and name was read before
)

// Fault is one thing that is wrong with the input.
type Fault struct {
	// At says where; the zero value where it is not in the input.
	At Location
	// Object is kind and name, "Deployment shop/web"; empty where they are not known.
	Object string
	// Field is the path of the field, "spec.replicas"; empty where no one field is to blame.
	Field string
	// Value is the value in the input, shortened if long.
	Value string
	// Message states the fault.
	Message string
	// Kind is the kind of the fault.
	Kind FaultKind

	cause *scheduling.FieldError // the original fault; nil where reading found it
}

// Unwrap returns the [*scheduling.FieldError] that [Snapshot.Locate] found the place of;
// nil for a fault that was found in reading.
func (f *Fault) Unwrap() error {
	if f.cause == nil {
		return nil
	}
	return f.cause
}

// Error returns the fault in one line.
func (f *Fault) Error() string {
	var parts []string
	for _, s := range []string{f.At.String(), f.Object, f.Field} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if f.cause != nil && f.Value != "" {
		// These messages do not continue the value.
		return strings.Join(append(parts, f.Message, f.Value), ": ")
	}
	if f.Value != "" {
		return strings.Join(parts, ": ") + ": " + f.Value + " " + f.Message
	}
	return strings.Join(append(parts, f.Message), ": ")
}

// Faults is the error that the functions of this package return for bad input:
// every fault, in the order of the input.
type Faults []*Fault

// Error returns the faults, one in a line.
func (fs Faults) Error() string {
	var lines []string
	for _, f := range fs {
		if f != nil {
			lines = append(lines, f.Error())
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single faults, for errors.As.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}
