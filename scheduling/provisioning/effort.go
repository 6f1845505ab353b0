package provisioning

import (
	"context"
	"reflect"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/search"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/nominated"
)

// solve places the pods, nominated ones first, and tries changes that would give a place to pods
// without one.
func solve(ctx context.Context, f *instance.Facts) (*scheduling.Plan, error) {
	x, f, err := withNominated(ctx, f)
	if err != nil {
		return nil, err
	}
	s := &x.Plan.Summary
	now := scheduling.Progress{
		Phase: scheduling.PhaseFixes, Placed: s.Placed, PricePerHour: offers.Objective(f.Solver, s), LowerBoundPerHour: s.LowerBoundPerHour,
	}
	if !f.Terse {
		f.Observer.Tell(now)
	}
	err = tryFixes(ctx, f, x.Plan)
	if now.Phase = scheduling.PhaseDone; !f.Terse && err == nil {
		f.Observer.Tell(now)
	}
	return x.Plan, err
}

// withNominated plans with the nominated pods that their nodes admit on these nodes. Where a pod has no place, and
// would have one without nominated pods of lower priority, these lose their nomination. It also returns the problem in
// which the admitted nominated pods run on their nodes.
func withNominated(ctx context.Context, f *instance.Facts) (*solved, *instance.Facts, error) {
	n := nominated.Read(f)
	for {
		f = n.Facts()
		x, err := searched(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		more, err := n.GiveWay(x.Plan, func(f *instance.Facts) (*scheduling.Plan, error) {
			x, err := settled(ctx, f)
			if err != nil {
				return nil, err
			}
			return x.Plan, nil
		})
		if err != nil {
			return nil, nil, err
		}
		if more {
			continue
		}
		n.Restore(x.Plan)
		if s := &x.Plan.Summary; n.GaveWay && !f.Terse {
			// The proof was made for the pods that were placed before nominated pods of lower priority lost their
			// place.
			conclude(s, proof{}, offers.Objective(f.Solver, s), s.Status == scheduling.StatusDeadline)
		}
		return x, f, nil
	}
}

// searched places the pods.
func searched(ctx context.Context, f *instance.Facts) (*solved, error) {
	if !f.Thorough() {
		return settled(ctx, f)
	}
	less, err := found(ctx, f, scheduling.EffortDefault)
	if err != nil {
		return nil, err
	}
	if late(ctx) {
		less.late = true
		less.conclude(f, proof{})
		return less, nil
	}
	more, err := found(ctx, f, f.Solver.Effort)
	if err != nil {
		return nil, err
	}
	best, other := less, more
	if more.score.Better(less.score) {
		best, other = more, less
	}
	best.late = best.late || other.late
	best.conclude(f, other.proves(ctx, best, f))
	return best, nil
}

// found is the plan of an effort.
func found(ctx context.Context, f *instance.Facts, effort scheduling.Effort) (*solved, error) {
	s, g := *f.Solver, *f
	s.Effort = effort
	g.Solver, g.Judged = &s, true
	return settled(ctx, &g)
}

// solved is a plan and the measures by which it is compared.
type solved struct {
	*scheduling.Plan
	score *search.Score // where facts are judged
	late  bool
	// proofs are the lower bounds for plans that place given numbers of pods of each class, under a choice of volumes;
	// nil if no bound is asked for.
	proofs *prove.Proofs
	placed []int64
	choice *podspec.VolumeChoice
}

// proves is the proof of one plan, as far as it holds for another plan with a lower bound.
func (x *solved) proves(ctx context.Context, other *solved, f *instance.Facts) (p proof) {
	if f.Terse || x.Plan.Summary.LowerBoundPerHour <= other.Plan.Summary.LowerBoundPerHour {
		return proof{}
	}
	if slices.Equal(x.placed, other.placed) && reflect.DeepEqual(x.choice, other.choice) {
		p.bound, p.certificate = x.proofs.Again(ctx, other.Plan, offers.Objective(f.Solver, &x.Plan.Summary))
	}
	return p
}

// conclude computes the plan's summary again with another proof, if that has a higher bound.
func (x *solved) conclude(f *instance.Facts, p proof) {
	if f.Terse {
		return
	}
	s := &x.Plan.Summary
	if p.bound <= s.LowerBoundPerHour {
		p = proof{s.LowerBoundPerHour, s.Certificate}
	}
	conclude(s, p, offers.Objective(f.Solver, s), x.late)
}
