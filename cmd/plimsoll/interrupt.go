package main

import (
	"context"
	"time"
)

// untilInterrupted is a context whose cancellation counts as its deadline, so that a search
// that it ends returns the best that it has found.
type untilInterrupted struct {
	parent context.Context //nolint:containedctx // it is one itself
}

// Deadline implements [context.Context].
func (c untilInterrupted) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements [context.Context].
func (c untilInterrupted) Done() <-chan struct{} { return c.parent.Done() }

// Err implements [context.Context].
func (c untilInterrupted) Err() error {
	if c.parent.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. There is none: contexts made from this one would find
// its parent, and end with the parent's error.
func (c untilInterrupted) Value(any) any { return nil }
