package search

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

const (
	// improveEnough is the share of the price up to which a bound may miss it without more work
	// being done; at the least effort that is [prove.NearEnough].
	improveEnough = 0.005
	// improveLeast is how much work that is at the least effort, and improveTimes how many times
	// the work of a search at others, where few machines are bought: the more there are, the less
	// each of them counts.
	improveLeast, improveTimes = 1_000_000, 4
)

// Improve exchanges machines of pods without topology terms for cheaper ones, by the duals of classes
// in the bound, where the price is further above that bound than will do. The bound goes into proofs, where the
// certificate of the plan finds it.
func Improve(ctx context.Context, c *instance.Instance, proofs *prove.Proofs, at pack.Outcome, params pack.Params) pack.Outcome {
	x := NewTrial(c, at)
	price := x.price()
	if c.Facts.Terse || at.Late || price == 0 {
		return at
	}
	pods := prove.ScopeOf(c, x.Packing.Placed(at.Solution), x.onLaunches())
	pods.Machines = func() [][]instance.Member { return x.Packing.Held(at.Solution) }
	lower, _ := proofs.Prove(ctx, nil, pods, price)
	params.ClassValues = proofs.ClassDuals()
	enough := improveEnough
	if params.Work == 0 {
		enough = prove.NearEnough
	}
	if float64(lower) >= float64(price)*(1-enough) || params.ClassValues == nil || ctx.Err() != nil {
		return at
	}
	work := params.Work
	params.Work = max(improveTimes*min(work, mostWork), improveLeast)
	if many := x.machines() / manyMachines; many > 0 {
		params.Work = max(min(work, mostWork)/(1+many), improveLeast)
	}
	best := pack.Improve(x.Packing.Model, at, params)
	// The end of a search depends on its beginning: a second one begins with the duals of the bound.
	begin := params
	begin.Work = 0
	again := pack.Improve(x.Packing.Model, pack.PlaceWithinLimits(x.Packing.Model, pack.Search(x.Packing.Model, begin), begin), params)
	if slices.Equal(again.Solution.Unplaced, best.Solution.Unplaced) && x.Packing.Model.Cost(again.Solution.Nodes) < x.Packing.Model.Cost(best.Solution.Nodes) {
		return again
	}
	return best
}
