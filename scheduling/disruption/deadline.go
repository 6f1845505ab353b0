package disruption

import (
	"cmp"
	"context"
	"errors"
)

// outOfTime reports whether a context has ended, by its deadline or by its cancellation.
func outOfTime(ctx context.Context) bool { return ctx.Err() != nil }

// unlessDeadline is the error, or that of the context, unless it is a passed deadline.
func unlessDeadline(ctx context.Context, err error) error {
	if err = cmp.Or(err, ctx.Err()); errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// cancelled is the error of a cancelled context; nil for one with a passed deadline.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
