package scheduling

import (
	"context"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Where many pods are tied to each other, most of a search goes into the last few percent
// of the price. A bound that is known beforehand says when that is not worth while.

// How far above a bound a search for many tied pods may end, as a share of the bound: at
// fast effort, and up to the default one.
const enoughFast, enoughDefault = 0.05, 0.025

// foresight is what a bound on resources says of plans that place all pods.
type foresight struct {
	prover *prover
	bound.Result
}

// foresee works out a bound for many tied pods before there is a plan, and at what price
// one of them will do; 0 is none.
func (c *compiler) foresee(ctx context.Context) (enough int64) {
	if ctx.Err() != nil {
		return 0
	}
	all := make([]int64, len(c.planned))
	for i, class := range c.planned {
		all[i] = int64(len(class.pods))
	}
	pr := c.newProver(all)
	if len(pr.classes) == 0 {
		return 0
	}
	f := &foresight{pr, pr.withSteps(bound.Resource(pr.input.Tighten()))}
	c.note(f)
	return int64(float64(f.Bound) * (1 + c.enough()))
}

// outlook foresees at what price a plan will do. Beside that it plans sites for the first
// time.
func (t *ties) outlook(ctx context.Context) (enough int64) {
	c := t.land.compiler
	if c.enough() == 0 || c.terse {
		return 0
	}
	var other sync.WaitGroup
	other.Go(func() { enough = c.foresee(ctx) })
	t.begun = topology.Plan(&t.planner)
	other.Wait()
	return enough
}

// enough is how far above a bound the price of tied pods may be; 0 is as near as can be.
func (c *compiler) enough() float64 {
	switch {
	case !c.tied() || len(c.planned) < manyClasses || c.solver.Effort > EffortDefault:
		return 0
	case c.solver.Effort == EffortFast:
		return enoughFast
	}
	return enoughDefault
}

// foreseen is what is known of plans with the placed pods.
func (c *compiler) foreseen(placed []int64) (pr *prover, resource bound.Result, known bool) {
	if f := noted[foresight](c.notes); f != nil && slices.Equal(f.prover.placed, placed) {
		return f.prover, f.Result, true
	}
	return nil, bound.Result{}, false
}
