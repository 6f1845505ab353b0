package search

import (
	"context"
	"io"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Watched does some work and shows its progress under a title on stderr if that is a terminal. The work sees the end of
// the context and the timeout (0 for none) as its deadline; stopped names the one that has come, "" for neither.
func Watched(ctx context.Context, stderr io.Writer, title string, timeout time.Duration, work func(context.Context, scheduling.Observer) error) (stopped string, err error) {
	limited := context.Context(untilInterrupted{ctx})
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(limited, timeout)
		defer cancel()
	}
	observer, done := progress(stderr, title)
	err = work(limited, observer)
	done()
	switch {
	case ctx.Err() != nil:
		stopped = "an interrupt"
	case limited.Err() != nil:
		stopped = "--timeout"
	}
	return stopped, err
}

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
