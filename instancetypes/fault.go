package instancetypes

import (
	"errors"
	"fmt"
	"strings"
)

// maxFaults bounds how many faults one error lists, so that a file that is wrong
// in every line does not produce a message as long as itself.
const maxFaults = 100

// enoughFaults is the number at which a reader gives up on a file.
const enoughFaults = 10_000

// Fault is one thing that is wrong with an instance type or with a file of them.
// Errors of this package that complain about data hold one or more; errors.As
// finds the first.
type Fault struct {
	// Line and Column say where in the file, counting from 1 and in bytes; 0 where
	// there is no file.
	Line, Column int
	// Type is the name of the instance type; empty if the fault lies outside of any.
	Type string
	// Field is the path of the field within the type, such as "offerings[2].price".
	Field string
	// Value is the offending value as text; empty where a value is missing.
	Value string
	// Problem says what is wrong with it.
	Problem string
	// Err is the cause, if it has a type worth asking for.
	Err error
}

// Error returns the fault as one line.
func (f *Fault) Error() string {
	var b strings.Builder
	sep := func() {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d", f.Line, f.Column)
	}
	if f.Type != "" {
		sep()
		fmt.Fprintf(&b, "instance type %s", f.Type)
	}
	if f.Field != "" {
		sep()
		b.WriteString(f.Field)
	}
	if f.Value != "" {
		sep()
		b.WriteString(shortened(f.Value))
	}
	sep()
	b.WriteString(f.Problem)
	return b.String()
}

// Unwrap returns the cause, if there is one.
func (f *Fault) Unwrap() error { return f.Err }

// faults collects what is wrong with one input.
type faults struct {
	list  []*Fault
	extra int
}

func (fs *faults) add(f *Fault) {
	if len(fs.list) >= maxFaults {
		fs.extra++
		return
	}
	fs.list = append(fs.list, f)
}

// err joins what was collected; nil if that is nothing.
func (fs *faults) err() error {
	errs := make([]error, 0, len(fs.list)+1)
	for _, f := range fs.list {
		errs = append(errs, f)
	}
	switch {
	case fs.enough():
		errs = append(errs, fmt.Errorf("and at least %d more faults", fs.extra))
	case fs.extra > 0:
		errs = append(errs, fmt.Errorf("and %d more faults", fs.extra))
	}
	return errors.Join(errs...)
}

// enough reports whether there is no point in reading on.
func (fs *faults) enough() bool { return len(fs.list)+fs.extra >= enoughFaults }

// shortened quotes a value from a file for a message.
func shortened(value string) string {
	const limit = 80
	if len(value) <= limit {
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("%q (%d bytes)", value[:limit]+"…", len(value))
}

// reason returns what an error of package offerings says about a value, without
// the value: the fault has that already.
func reason(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, `": `); i >= 0 {
		return text[i+len(`": `):]
	}
	return text
}
