package search

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

// A plan of sites makes many small problems of one: buying for each site by itself leaves
// machines that are not full, and pods that may go anywhere are where they first fitted. Where
// the plan costs much more than its bound it is worth more work to find out whether that
// has to be.

const (
	// farOff is how many times its bound a plan has to cost for that, and fewFarOff the same where
	// few machines are bought, for which less work does.
	farOff, fewFarOff = 1.03, 1.02
	// mixedPods is up to how many pods for each machine fillings are mixed. Of larger
	// machines there are too many fillings.
	mixedPods = 24
	// mixLittle is how many times the work of a search may go into mixing fillings for many
	// machines, and mixMuch for few, and where a plan is far above its bound after that.
	mixLittle, mixMuch = 1, 12
	// fewTimes is the same at least for few machines of many pods each.
	fewTimes = 6
	// mostWork bounds work that is multiplied.
	mostWork = 1 << 50
	// manyMachines is from how many on it counts how each is filled, and not where.
	manyMachines = 80
	// seekFurther is how many times the usual work goes into moving pods to other sites, unless
	// as many nodes run as machines are bought: a try takes longer there, and gains less.
	seekFurther = 10
	// siteTries is how many times cheaper sites are looked for, with siteProofs each.
	siteTries, siteProofs = 2, 2_000
)

// Continue replaces a trial by one of more work, if that is better: the search for sites goes on where less work has ended
// it, and more work goes into the machines for the best sites.
func (x *Trial) Continue(params pack.Params) {
	y := searchDomains(x, params, seekWork(params))
	if y.Packing != x.Packing {
		y = y.refined(params)
	}
	y = replanned(&y, params)
	y = y.searched(params)
	if y.Score().Better(x.Score()) {
		*x = y
	}
	x.Outcome.Late, x.domains = x.Outcome.Late || y.Outcome.Late, y.domains
}

// Intensify looks for a cheaper plan where the price is far above the bound: other machines, for
// the sites as they are or for cheaper ones.
func (x *Trial) Intensify(ctx context.Context, proofs *prove.Proofs, params pack.Params) {
	if x.Outcome.Late || len(x.Outcome.Solution.Nodes) == 0 || !x.complete() || !x.farAbove(ctx, proofs) {
		return
	}
	if params.Work == 0 {
		params.Work = improveLeast
		*x = x.searched(params)
		return
	}
	late := func() bool {
		x.Outcome.Late = x.Outcome.Late || params.Late != nil && params.Late()
		return x.Outcome.Late
	}
	if x.few() && x.machines() > int64(len(x.Packing.In.Nodes)) {
		work := min(params.Work, mostWork) / seekShare * seekFurther
		x.domains = nil // because its machines are not the first any more
		if y := searchDomains(x, params, work); y.Packing != x.Packing {
			*x = y.searched(params)
		}
		if late() || !x.farAbove(ctx, proofs) {
			return
		}
	}
	other := x.cheapestSites(params, late)
	best, times := *x, int64(mixLittle)
	if x.few() || proofs.Thorough() {
		times = mixMuch
	}
	for ; !late(); times = mixMuch {
		if y := other.improvedBy(other.mixed(params, times)); y.Score().Better(best.Score()) {
			best = y
		}
		if times == mixMuch || !other.mixes() || late() || !best.farAbove(ctx, proofs) {
			break
		}
	}
	best.Outcome.Late = x.Outcome.Late
	*x = best
}

// cheapestSites is the trial or one with other sites that binds as many pods for less, with machines that the least
// work finds; the trial where there are few machines of many pods.
func (x *Trial) cheapestSites(params pack.Params, late func() bool) Trial {
	best := *x
	if x.few() && !x.mixes() {
		return best
	}
	params.Work = 0
	for k := range uint64(siteTries) {
		if late() {
			break
		}
		t := NewSitePlanner(x.Packing.In, params.Late)
		t.scale = x.planner.scale // preferences per host are relaxed as far
		t.proofs, t.problem.Shuffle = siteProofs, k
		if y := t.try(params); slices.Equal(y.bind, x.bind) && !y.Outcome.Late && y.price() < best.price() {
			best = y
		}
	}
	return best
}

// mixes reports whether fillings are mixed for a trial.
func (x *Trial) mixes() bool {
	return podspec.Sum(x.bind) <= mixedPods*x.machines()
}

// few reports whether so few machines are bought that it counts most where they are: then pods
// were moved to other sites until that did not pay any more.
func (x *Trial) few() bool { return x.machines() < manyMachines }

// machines is how many are bought.
func (x *Trial) machines() int64 { return model.Count(x.Outcome.Solution.Nodes) }

// mixed mixes fillings for a trial.
func (x *Trial) mixed(params pack.Params, times int64) pack.Outcome {
	work := min(params.Work, mostWork)
	params.Work = times * min(work, work/manyMachines*x.machines())
	if x.few() && !x.mixes() {
		params.Work = max(params.Work, fewTimes*work)
	}
	return pack.Improve(x.Packing.Model, x.Outcome, params)
}

// farAbove reports whether a trial costs much more than the lower bound that can be proven.
func (x *Trial) farAbove(ctx context.Context, proofs *prove.Proofs) bool {
	price := x.price()
	pods := prove.ScopeOf(x.Packing.In, x.Packing.Placed(x.Outcome.Solution), x.onLaunches())
	far := farOff
	if x.few() {
		far = fewFarOff
	}
	near := int64(float64(price) / far)
	if least, ok := proofs.ByResources(pods.Placed); !ok || least >= near {
		return false
	}
	pods.Machines = func() [][]instance.Member { return x.Packing.Held(x.Outcome.Solution) }
	least, _ := proofs.Prove(ctx, nil, pods, price)
	if int64(least) < near && x.few() {
		// Whole machines tell the more the fewer there are, and the proof of the plan needs this anyway.
		if bound, ok := proofs.DivideByDomains(ctx, pods.Placed, int64(float64(price)*(1-prove.EnoughWithTerms))); ok {
			least = max(least, offerings.Price(bound))
		}
	}
	return int64(least) < near
}
