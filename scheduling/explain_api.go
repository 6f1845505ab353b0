package scheduling

import (
	"fmt"
	"strings"
)

// UnknownNameError says that a plan and its problem have nothing of a name, or more
// than one thing.
type UnknownNameError struct {
	// Kind is "pod", "node" or "launch", Name what was asked for.
	Kind, Name string
	// Near are names that look like it, or those that it may mean; at most five.
	Near []string
	// Ambiguous says that the name fits all of Near.
	Ambiguous bool
}

// Error says what is unknown, and what may have been meant.
func (e *UnknownNameError) Error() string {
	switch {
	case e.Ambiguous:
		return fmt.Sprintf("%s %q is not the only one of that name: say which of %s", e.Kind, e.Name, strings.Join(e.Near, ", "))
	case len(e.Near) > 0:
		return fmt.Sprintf("there is no %s %q; did you mean %s?", e.Kind, e.Name, strings.Join(e.Near, ", "))
	default:
		return fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	}
}
