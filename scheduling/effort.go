package scheduling

import (
	"context"
	"reflect"
	"slices"
)

// A search that may take longer does other things first and is content at other times, so that
// it may end with a dearer plan, and a proof with a lower bound. Where the effort is above the
// default, the plan of the default is therefore made first, and what takes longer has to be better.

// thorough reports whether the solver's effort is above the default.
func (f *facts) thorough() bool { return f.solver.Effort > EffortDefault }

// solve places the pods, and tries what would help those that find no place.
func (f *facts) solve(ctx context.Context) (*Plan, error) {
	x, err := f.searched(ctx)
	if err != nil {
		return nil, err
	}
	return x.Plan, f.tryFixes(ctx, x.Plan)
}

// searched places the pods.
func (f *facts) searched(ctx context.Context) (*solved, error) {
	if !f.thorough() {
		return f.settled(ctx)
	}
	less, err := f.found(ctx, EffortDefault)
	if err != nil {
		return nil, err
	}
	if late(ctx) {
		less.late = true
		less.conclude(f, proof{})
		return less, nil
	}
	more, err := f.found(ctx, f.solver.Effort)
	if err != nil {
		return nil, err
	}
	best, other := less, more
	if more.score.better(less.score) {
		best, other = more, less
	}
	best.late = best.late || other.late
	best.conclude(f, other.proves(ctx, best, f))
	return best, nil
}

// found is the plan of an effort.
func (f *facts) found(ctx context.Context, effort Effort) (*solved, error) {
	s, g := *f.solver, *f
	s.Effort = effort
	g.solver, g.judged = &s, true
	return g.settled(ctx)
}

// solved is a plan and what it is compared by.
type solved struct {
	*Plan
	score *score // where facts are judged
	late  bool
	// prover has proven how low the price of plans can be that place so many pods of each class;
	// nil where nobody asks.
	prover *compiler
	placed []int64
}

// proves is what was proven for one plan as far as it holds for another one, of which less was.
func (x *solved) proves(ctx context.Context, other *solved, f *facts) (p proof) {
	if f.terse || x.Plan.Summary.LowerBoundPerHour <= other.Plan.Summary.LowerBoundPerHour {
		return proof{}
	}
	if k := noted[proven](x.prover.notes); k != nil && slices.Equal(x.placed, other.placed) && reflect.DeepEqual(x.prover.choice, other.prover.choice) {
		p.bound, p.certificate = x.prover.prove(ctx, other.Plan, k.atStake, f.solver.objective(&x.Plan.Summary))
	}
	return p
}

// conclude sums the plan up anew with another proof if that is a better one.
func (x *solved) conclude(f *facts, p proof) {
	if f.terse {
		return
	}
	s := &x.Plan.Summary
	if p.bound <= s.LowerBoundPerHour {
		p = proof{s.LowerBoundPerHour, s.Certificate}
	}
	s.conclude(p, f.solver.objective(s), x.late)
}
