package scheduling

import (
	"context"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// remixed is an outcome for pods that nothing ties, with fillings mixed for all machines at
// once where that is cheaper. It takes long, so it is tried only where machines hold so few
// pods that it matters which, where the price is further above its bound than will do, and
// where there are no fewer machines than classes: a mix has parts of as many machines as
// classes, and what is gained by it is lost when few are rounded up.
func (c *compiler) remixed(ctx context.Context, at pack.Outcome, params pack.Params) pack.Outcome {
	x := *newTrial(c, at)
	placed := c.placed(at.Solution)
	x.bind = sum(placed)
	price := x.price()
	if params.Work == 0 || c.terse || at.Late || price == 0 || !x.mixes() || x.machines() < int64(len(c.model.Classes)) {
		return at
	}
	if least, _ := c.prove(ctx, nil, c.deciding(placed, x.onLaunches()), price); float64(least) >= float64(price)*(1-farEnough) {
		return at
	}
	params.Work = mixMuch * min(params.Work, mostWork)
	return pack.Mix(c.model, at, params)
}
