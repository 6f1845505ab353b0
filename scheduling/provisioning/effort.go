package provisioning

import (
	"context"
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/search"
)

// trial is a plan that the search ends with, before it is written down.
type trial struct {
	found  *search.Trial
	proofs *prove.Proofs // of its lower bound
	outbid bool          // see [boldness]
}

// searched is the best trial. A search of a high effort begins with the trial of the next lower one, so that more effort is
// never dearer. Plans that only say where pods would go are of one effort, because nobody compares them.
func searched(ctx context.Context, base *instance.Instance) (best trial) {
	f := base.Facts
	efforts := []scheduling.Effort{scheduling.Effort(instance.Effort(f.Solver))}
	for _, less := range []scheduling.Effort{scheduling.EffortDefault, scheduling.EffortFast} {
		if !f.Terse && less < efforts[0] {
			efforts = append([]scheduling.Effort{less}, efforts...)
		}
	}
	for _, effort := range efforts {
		if best.found != nil && late(ctx) {
			best.found.Outcome.Late = true
			break
		}
		best = searchedOnce(ctx, base.WithEffort(effort), best)
	}
	return best
}

// searchedOnce is the trial of one effort, or that of less effort where it is not better. The field found of less is nil for none.
func searchedOnce(ctx context.Context, c *instance.Instance, less trial) trial {
	f, params := c.Facts, paramsOf(ctx, c.Facts)
	out := trial{proofs: prove.NewProofs(c)}
	if less.proofs != nil {
		out.proofs = less.proofs.Harder(c)
	}
	if c.HasTopologyTerms() {
		t := search.NewSitePlanner(c, params.Late)
		params.Enough = t.EarlyBound(ctx, out.proofs)
		out.found, out.outbid = t.Solve(params)
		out.keep(less)
		if !f.Terse {
			tellOnce(f, less, out.found)
			out.found.Intensify(ctx, c, out.proofs, params)
		}
		return out
	}
	var begin pack.Outcome
	if less.found != nil && less.found.Improvable() {
		begin = less.found.Outcome
	} else {
		begin = pack.Search(c.Unsited().Model, params)
		if !f.Brief {
			begin = pack.PlaceWithinLimits(c.Unsited().Model, begin, params)
		}
	}
	out.found = search.NewTrial(c, begin)
	tellOnce(f, less, out.found)
	out.found.Outcome = search.Improve(ctx, c, out.proofs, begin, params)
	out.keep(less)
	return out
}

// keep replaces a trial by that of less effort where it is not better.
func (x *trial) keep(less trial) {
	if less.found == nil || x.found.Score().Better(less.found.Score()) {
		return
	}
	less.found.Outcome.Late = less.found.Outcome.Late || x.found.Outcome.Late
	x.found, x.outbid = less.found, less.outbid
}

// tellOnce tells the observer that the search goes on to improve the first plan, which is not told again with more effort.
func tellOnce(f *instance.Facts, less trial, found *search.Trial) {
	if less.found == nil {
		tell(f, scheduling.PhaseImprove, found)
	}
}

// workPerEffort turns effort into units of work of the engine.
const workPerEffort = 10_000

// paramsOf are the bounds of a search: no work beyond the least at fast effort.
func paramsOf(ctx context.Context, f *instance.Facts) pack.Params {
	out := pack.Params{Snug: true, Brief: f.Brief, Late: func() bool { return late(ctx) }}
	if effort := instance.Effort(f.Solver); effort > int64(scheduling.EffortFast) {
		out.Work = min(effort, math.MaxInt64/workPerEffort) * workPerEffort
	}
	return out
}
