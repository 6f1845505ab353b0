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

// trial is a plan that the search ends with, before it is written down, and the proofs of its lower bound.
type trial struct {
	found  *search.Trial
	proofs *prove.Proofs
}

// searched is the best trial. A search goes through all efforts up to that of the policy, and each goes on where the one
// before has ended, so that more effort is never dearer.
func searched(ctx context.Context, c *instance.Instance) trial {
	x := trial{proofs: prove.NewProofs(c)}
	for _, effort := range instance.EffortsUpTo(c.Facts.Solver) {
		if x.found != nil && late(ctx) {
			x.found.Outcome.Late = true
			break
		}
		x.proofs.SetEffort(effort)
		x.goOn(ctx, c, paramsOf(ctx, c.Facts, effort))
	}
	return x
}

// goOn begins the search with the least work, or goes on with more.
func (x *trial) goOn(ctx context.Context, c *instance.Instance, params pack.Params) {
	if !c.HasTopologyTerms() {
		if x.found == nil {
			x.found = search.NewTrial(c, params)
			tell(c.Facts, scheduling.PhaseImprove, x.found)
		}
		x.found.Improve(ctx, x.proofs, params)
		return
	}
	if x.found == nil {
		t := search.NewSitePlanner(c, params.Late)
		if !c.Facts.Terse {
			params.Enough = t.EarlyBound(ctx, x.proofs)
		}
		x.found = t.Solve(params)
		tell(c.Facts, scheduling.PhaseImprove, x.found)
	} else {
		if !c.Facts.Terse {
			params.Enough = x.proofs.EarlyBound(ctx)
		}
		x.found.Continue(params)
	}
	if !c.Facts.Terse {
		x.found.Intensify(ctx, x.proofs, params)
	}
}

// workPerEffort turns effort into units of work of the engine.
const workPerEffort = 10_000

// paramsOf are the bounds of a search: no work beyond the least at fast effort.
func paramsOf(ctx context.Context, f *instance.Facts, effort scheduling.Effort) pack.Params {
	out := pack.Params{Snug: true, Brief: f.Brief, Late: func() bool { return late(ctx) }}
	if effort > scheduling.EffortFast {
		out.Work = min(int64(effort), math.MaxInt64/workPerEffort) * workPerEffort
	}
	return out
}
