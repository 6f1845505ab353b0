package scheduling

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// fewestHoned is from how many machines on some are exchanged at fast effort: the search itself buys
// so few anew again and again.
const fewestHoned = 3

// honedEnough is the share of the price up to which a bound may miss it without machines being
// exchanged. It is less than what a bound by cases is sought for: few machines are soon exchanged.
const honedEnough = 0.005

// honed is an outcome for pods that nothing ties, with machines exchanged for cheaper ones where
// few are bought and the price is further above its bound than will do, and if it still is, those
// of other outcomes.
func (c *compiler) honed(ctx context.Context, at pack.Outcome, params pack.Params) pack.Outcome {
	x := *newTrial(c, at)
	price := x.price()
	n := x.machines()
	if c.terse || at.Late || price == 0 || n >= manyMachines || params.Work == 0 && n < fewestHoned {
		return at
	}
	least, _ := c.prove(ctx, nil, c.deciding(c.placed(at.Solution), x.onLaunches()), price)
	params.Worths = c.provenWorths()
	if float64(least) >= float64(price)*(1-honedEnough) || params.Worths == nil || ctx.Err() != nil {
		return at
	}
	best := pack.Hone(c.model, at, params)
	if params.Work == 0 || best.Work == at.Work {
		return best // there is no more work, or nothing can be exchanged
	}
	half, twice := params.Work/2, 2*min(params.Work, mostWork)
	for _, works := range [][]int64{{0, half}, {twice}} {
		if best.Late || float64(least) >= float64(c.model.Cost(best.Solution.Nodes))*(1-farEnough) {
			break
		}
		best = c.cheapest(best, c.elsewhere(works, at.Work, params))
	}
	return best
}

// elsewhere are outcomes of searches with other work, with machines exchanged as for one that took so
// much. Where few large machines are bought, what a search ends with hangs on how it began, and
// exchanging some machines does not lead from one of such plans to another.
func (c *compiler) elsewhere(works []int64, taken int64, params pack.Params) []pack.Outcome {
	out := make([]pack.Outcome, len(works))
	var searches sync.WaitGroup
	for i, work := range works {
		searches.Go(func() {
			out[i] = pack.Search(c.model, pack.Params{Snug: params.Snug, Late: params.Late, Work: work})
			out[i].Work = taken
			out[i] = pack.Hone(c.model, out[i], params)
		})
	}
	searches.Wait()
	return out
}

// cheapest is the cheapest of some outcomes that place the same pods as the first.
func (c *compiler) cheapest(best pack.Outcome, others []pack.Outcome) pack.Outcome {
	work, late := best.Work, best.Late
	for _, x := range others {
		work, late = work+x.Work, late || x.Late
		if slices.Equal(x.Solution.Unplaced, best.Solution.Unplaced) && c.model.Cost(x.Solution.Nodes) < c.model.Cost(best.Solution.Nodes) {
			best = x
		}
	}
	best.Work, best.Late = work, late
	return best
}

// provenWorths is what pods of each class are worth by the bound that was proven last.
func (c *compiler) provenWorths() []float64 {
	k := noted[proven](c.notes)
	if k == nil || k.prover == nil || len(k.assigned.Worths) == 0 {
		return nil
	}
	out := make([]float64, len(c.model.Classes))
	for i, ids := range k.prover.classes {
		f, _ := new(big.Float).SetInt(k.assigned.Worths[i]).Float64()
		for _, id := range ids {
			out[id] = math.Ldexp(f, -int(k.assigned.Scale))
		}
	}
	return out
}
