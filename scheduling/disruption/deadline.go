package disruption

import (
	"cmp"
	"context"
	"errors"
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
