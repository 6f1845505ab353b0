package search

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

const (
	// improveEnough is the share of the price up to which a bound may miss it without more work
	// being done; at the least effort that is [prove.NearEnough].
	improveEnough = 0.001
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
	pods.Machines = func() [][]instance.Member { return patterns(x.Packing, at) }
	lower, _ := proofs.Prove(ctx, nil, pods, price)
	params.ClassValues = proofs.ClassDuals()
	enough := improveEnough
	if params.Work == 0 {
		enough = prove.NearEnough
	}
	if float64(lower) >= float64(price)*(1-enough) || ctx.Err() != nil {
		return at
	}
	if params.ClassValues == nil {
		if params.Work == 0 {
			return at // because the search that found the answer has done the least work already
		}
		return pack.Improve(x.Packing.Model, at, params)
	}
	for _, portions := range proofs.Patterns() {
		items := make([]model.Item, len(portions))
		for i, m := range portions {
			items[i] = model.Item{Class: model.ClassID(m.Class), N: m.N} // because without topology terms each class is a part
		}
		params.Patterns = append(params.Patterns, items)
	}
	work := params.Work
	params.Work = max(improveTimes*min(work, mostWork), improveLeast)
	if many := x.machines() / manyMachines; many > 0 {
		params.Work = max(min(work, mostWork)/(1+many), improveLeast)
	}
	best := improveTwice(x.Packing.Model, at, params)
	proofs.Refill(ctx, patterns(x.Packing, best), NewTrial(c, best).price())
	return best
}

// patterns is the pods on each machine of an answer, and on those that column generation knows besides.
func patterns(p *instance.Packing, at pack.Outcome) [][]instance.Member {
	out := p.Held(at.Solution)
	for _, items := range at.Patterns {
		out = append(out, p.Portions(items))
	}
	return out
}

// improveTwice improves an answer, and one that begins with the duals of the bound, because the end of a search depends
// on its beginning. It returns the cheaper one.
func improveTwice(p *model.Problem, at pack.Outcome, params pack.Params) pack.Outcome {
	best := pack.Improve(p, at, params)
	begin := params
	begin.Work = 0
	other := pack.PlaceWithinLimits(p, pack.Search(p, begin), begin)
	other.Patterns = best.Patterns
	again := pack.Improve(p, other, params)
	if best.Patterns = again.Patterns; slices.Equal(again.Solution.Unplaced, best.Solution.Unplaced) && p.Cost(again.Solution.Nodes) < p.Cost(best.Solution.Nodes) {
		return again
	}
	return best
}
