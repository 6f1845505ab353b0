package search

import (
	"context"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

// Outlook returns the price at which a plan will do, by a bound that is proven before there is a plan; 0 is none. At the
// same time it plans sites for the first time.
func (t *Ties) Outlook(ctx context.Context, proofs *prove.Proofs) (enough int64) {
	c := t.in
	if prove.Enough(c) == 0 || c.Terse {
		return 0
	}
	var other sync.WaitGroup
	other.Go(func() { enough = proofs.EarlyBound(ctx) })
	t.begun = t.planSites()
	other.Wait()
	return enough
}
