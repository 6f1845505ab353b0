package disruption

import (
	"context"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// alternative looks with little effort for the cheapest cluster of other NodePools, as
// [Summary.Rebuilt] is one of its own; nil where there are none to compare with, or no node
// of a pool has a price.
func (p Planner) alternative(ctx context.Context, c *Cluster) (*Rebuilt, error) {
	f := newFrame(p, c)
	all := f.owned()
	if len(c.Alternative) == 0 || len(all) == 0 || ctx.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // nothing to compare with is no error, nor is too little time
	}
	other := c.Problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := f.solveAnew(ctx, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return f.rebuilt(t), nil
}
