package prove

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// Where many pods are tied to each other, most of a search goes into the last few percent
// of the price. A bound that is known beforehand says when that is not worth while.

// How far above a bound a search for many tied pods may end, as a share of the bound: at
// fast effort, and up to the default one.
const enoughFast, enoughDefault = 0.05, 0.025

// earlyBound is the bound on resources of plans that place all pods.
type earlyBound struct {
	prover *prover
	result covering.Result
}

// ByResources returns the bound of plans that place so many pods of each planned class by what these request together,
// in nano-USD per hour. It takes little time beside the other bounds. ok is false where no pod is placed.
func ByResources(c *instance.Instance, placed []int64) (least int64, ok bool) {
	pr := newProver(c, placed)
	if len(pr.classes) == 0 {
		return 0, false
	}
	return covering.Resource(pr.input.Tighten()).Bound, true
}

// EarlyBound works out a bound for many tied pods before there is a plan, and at what price
// one of them will do; 0 is none.
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

// Enough is how far above a bound the price of tied pods may be; 0 is as near as can be.
func Enough(c *instance.Instance) float64 {
	switch {
	case !c.Tied() || len(c.Planned) < instance.ManyClasses || c.Solver.Effort > scheduling.EffortDefault:
		return 0
	case c.Solver.Effort == scheduling.EffortFast:
		return enoughFast
	}
	return enoughDefault
}

// foreseen is what is known of plans with the placed pods.
func (p *Proofs) foreseen(placed []int64) (pr *prover, resource covering.Result, known bool) {
	if f := p.early; f != nil && slices.Equal(f.prover.placed, placed) {
		return f.prover, f.result, true
	}
	return nil, covering.Result{}, false
}
