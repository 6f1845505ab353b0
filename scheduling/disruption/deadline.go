package disruption

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// over reports whether there is no more time.
func over(ctx context.Context) bool { return ctx.Err() != nil }

// past returns an error unless it is a deadline that has passed.
func past(ctx context.Context, err error) error {
	if err = cmp.Or(err, ctx.Err()); errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// cancelled is the error of a context that somebody cancelled; a deadline is none.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// halfOfTheTime is a context whose deadline, if it has one, comes when half of the time until then has passed.
func halfOfTheTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}
