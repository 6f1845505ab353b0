package search

import (
	"context"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

// Outlook foresees at what price a plan will do. Beside that it plans sites for the first
// time.
func (t *Ties) Outlook(ctx context.Context) (enough int64) {
	c := t.Locations.Compiler
	if prove.Enough(c) == 0 || c.Terse {
		return 0
	}
	var other sync.WaitGroup
	other.Go(func() { enough = prove.EarlyBound(ctx, c) })
	t.begun = t.planSites()
	other.Wait()
	return enough
}
