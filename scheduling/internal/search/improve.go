package search

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

const (
	// improveEnough is the share of the price up to which a bound may miss it without more work
	// being done for few machines.
	improveEnough = 0.005
	// improveLeast is how much work that is at the least effort, and improveTimes how many times
	// the work of a search at others.
	improveLeast, improveTimes = 10_000_000, 4
)

// Improve exchanges machines of pods without topology terms for cheaper ones, at what pods are
// worth by the bound, where few are bought and the price is further above that bound than will
// do. What is proven for it is noted, for the plan's own proof.
func Improve(ctx context.Context, c *compile.Compiler, at pack.Outcome, params pack.Params) pack.Outcome {
	x := NewTrial(c, at)
	price := x.price()
	if c.Terse || at.Late || price == 0 || !x.few() {
		return at
	}
	lower, _ := prove.Prove(ctx, c, nil, prove.Deciding(c, c.Placed(at.Solution), x.onLaunches()), price)
	params.Worths = prove.ClassDuals(c)
	if float64(lower) >= float64(price)*(1-improveEnough) || params.Worths == nil || ctx.Err() != nil {
		return at
	}
	work, least := params.Work, params
	params.Work = max(improveTimes*min(work, mostWork), improveLeast)
	best := pack.Improve(c.Model, at, params)
	if work == 0 {
		return best
	}
	// What a search ends with hangs on how it began: the beginning of the least effort is tried, too.
	least.Work, least.Worths = 0, nil
	again := pack.PlaceWithinLimits(c.Model, pack.Search(c.Model, least), least)
	least.Work, least.Worths = improveLeast, params.Worths
	again = pack.Improve(c.Model, again, least)
	if slices.Equal(again.Solution.Unplaced, best.Solution.Unplaced) && c.Model.Cost(again.Solution.Nodes) < c.Model.Cost(best.Solution.Nodes) {
		return again
	}
	return best
}
