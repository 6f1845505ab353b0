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
// certificate of the plan finds it. Without a bound, i.e. for terse facts, it goes by shares of prices.
func (x *Trial) Improve(ctx context.Context, proofs *prove.Proofs, params pack.Params) {
	if x.Packing.In.Facts.Terse || !x.Improvable() {
		*x = x.searched(params)
	}
	price := x.price()
	if x.Packing.In.Facts.Terse || x.Outcome.Late || price == 0 {
		return
	}
	pods := prove.ScopeOf(x.Packing.In, x.Packing.Placed(x.Outcome.Solution), x.onLaunches())
	pods.Machines = x.patterns
	lower, _ := proofs.Prove(ctx, nil, pods, price)
	params.ClassValues = proofs.ClassDuals()
	enough := improveEnough
	if params.Work == 0 {
		enough = prove.NearEnough
	}
	if float64(lower) >= float64(price)*(1-enough) || ctx.Err() != nil {
		return
	}
	if params.ClassValues == nil {
		*x = x.searched(params)
		return
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
	y := x.improvedTwice(params)
	proofs.Refill(ctx, y.patterns(), y.price())
	if y.Score().Better(x.Score()) {
		*x = y
	}
	x.Outcome.Late, x.Outcome.Patterns, x.beside = y.Outcome.Late, y.Outcome.Patterns, true
}

// patterns is the pods on each machine of a trial, and on those that column generation knows besides.
func (x *Trial) patterns() [][]instance.Member {
	out := x.Packing.Held(x.Outcome.Solution)
	for _, items := range x.Outcome.Patterns {
		out = append(out, x.Packing.Portions(items))
	}
	return out
}

// improvedTwice is the trial with the machines improved, or at the first time with others that begin with the duals of the
// bound, because the end of a search depends on its beginning. It is the cheaper one.
func (x *Trial) improvedTwice(params pack.Params) Trial {
	p, y := x.Packing.Model, *x
	y.Outcome = pack.Improve(p, x.Outcome, params)
	if x.beside {
		return y
	}
	begin := params
	begin.Work = 0
	other := pack.PlaceWithinLimits(p, pack.Search(p, begin), begin)
	other.Patterns = y.Outcome.Patterns
	other = pack.Improve(p, other, params)
	if y.Outcome.Patterns = other.Patterns; slices.Equal(other.Solution.Unplaced, y.Outcome.Solution.Unplaced) && p.Cost(other.Solution.Nodes) < p.Cost(y.Outcome.Solution.Nodes) {
		y.Outcome = other
	}
	return y
}
