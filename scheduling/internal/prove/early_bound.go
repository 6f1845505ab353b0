package prove

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// enoughFast and enoughDefault are the gaps, as a share of the bound, at which a search for many pods with topology
// terms ends: at fast effort, and up to the default. Most of its time would go into the last few percent of the price.
const enoughFast, enoughDefault = 0.05, 0.025

// earlyBound is the bound by resource duals on plans that place all pods.
type earlyBound struct {
	prover *prover
	result covering.Result
}

// ByResources is the bound by resource duals, in nano-USD per hour, on plans that place the given number of pods of each
// planned class. It is the fastest bound. ok is false where no pod is placed.
func ByResources(c *instance.Instance, placed []int64) (least int64, ok bool) {
	pr := newProver(c, placed)
	if len(pr.classes) == 0 {
		return 0, false
	}
	return covering.Resource(pr.input.Tighten()).Bound, true
}

// EarlyBound works out a bound before the search, and returns the price in nano-USD per hour at which the search may
// end; 0 past the deadline or without pods.
func (p *Proofs) EarlyBound(ctx context.Context) (enough int64) {
	c := p.problem
	if ctx.Err() != nil {
		return 0
	}
	all := make([]int64, len(c.Planned))
	for i, class := range c.Planned {
		all[i] = int64(len(class.Pods))
	}
	pr := newProver(c, all)
	if len(pr.classes) == 0 {
		return 0
	}
	p.early = &earlyBound{pr, pr.withSteps(covering.Resource(pr.input.Tighten()))}
	return int64(float64(p.early.result.Bound) * (1 + Enough(c)))
}

// Enough is the gap, as a share of the bound, at which a search may end; 0 means that it goes on to its end.
func Enough(c *instance.Instance) float64 {
	switch {
	case !c.HasTopologyTerms() || len(c.Planned) < instance.ManyClasses || c.Facts.Solver.Effort > scheduling.EffortDefault:
		return 0
	case c.Facts.Solver.Effort == scheduling.EffortFast:
		return enoughFast
	}
	return enoughDefault
}

// foreseen is the early bound if it is for the same placed pods.
func (p *Proofs) foreseen(placed []int64) (pr *prover, resource covering.Result, known bool) {
	if f := p.early; f != nil && slices.Equal(f.prover.placed, placed) {
		return f.prover, f.result, true
	}
	return nil, covering.Result{}, false
}
