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

// resourceBound is the bound by resource duals, the fastest one, on plans that place the pods of a prover.
type resourceBound struct {
	proof   covering.Result
	prover  *prover
	stepped bool // see [prover.withSteps]
}

// byResources is the bound by resource duals on plans that place the given number of pods of each planned class; nil where
// no pod is placed. The last one is kept, because each effort asks for it several times.
func (p *Proofs) byResources(placed []int64) *resourceBound {
	if r := p.resource; r != nil && slices.Equal(r.prover.placed, placed) {
		return r
	}
	pr := newProver(p.problem, slices.Clone(placed))
	if len(pr.classes) == 0 {
		return nil
	}
	p.resource = &resourceBound{proof: covering.Resource(pr.input.Tighten()), prover: pr}
	return p.resource
}

// addSteps raises the bound by steps, unless that is done.
func (r *resourceBound) addSteps() {
	if !r.stepped {
		r.proof, r.stepped = r.prover.withSteps(r.proof), true
	}
}

// ByResources is the bound by resource duals, in nano-USD per hour, on plans that place the given number of pods of each
// planned class. ok is false where no pod is placed.
func (p *Proofs) ByResources(placed []int64) (least int64, ok bool) {
	r := p.byResources(placed)
	if r == nil {
		return 0, false
	}
	return r.proof.Bound, true
}

// EarlyBound returns the price in nano-USD per hour at which a search may end, by a bound that is proven before there is a
// plan; 0 for none: where a search goes on to its end, without pods and past the deadline.
func (p *Proofs) EarlyBound(ctx context.Context) (enough int64) {
	share := p.enough()
	if share == 0 || ctx.Err() != nil {
		return 0
	}
	all := make([]int64, len(p.problem.Planned))
	for i, class := range p.problem.Planned {
		all[i] = int64(len(class.Pods))
	}
	r := p.byResources(all)
	if r == nil {
		return 0
	}
	r.addSteps()
	return int64(float64(r.proof.Bound) * (1 + share))
}

// Thorough reports whether the effort is above the default.
func (p *Proofs) Thorough() bool { return p.effort > scheduling.EffortDefault }

// EndsEarly reports whether a search may end at a price before it has done its work, see [Proofs.EarlyBound].
func (p *Proofs) EndsEarly() bool { return p.enough() > 0 }

// enough is the gap, as a share of the bound, at which a search may end; 0 means that it goes on to its end.
func (p *Proofs) enough() float64 {
	switch {
	case !p.problem.HasTopologyTerms() || len(p.problem.Planned) < instance.ManyClasses || p.Thorough():
		return 0
	case p.effort == scheduling.EffortFast:
		return enoughFast
	}
	return enoughDefault
}
