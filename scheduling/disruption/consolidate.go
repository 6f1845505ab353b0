package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// consolidate makes the steps that make the cluster cheaper, each once it is certain.
func (r *run) consolidate(ctx context.Context) error {
	if err := r.aim(ctx); err != nil {
		return err
	}
	r.findings = &findings{bound: r.anew.bound, anew: r.anew}
	err := r.save(ctx, r.anew)
	r.findings.late = over(ctx)
	return err
}

// aim works out at what the search for savings aims, unless it is known.
func (r *run) aim(ctx context.Context) error {
	if r.anew != nil {
		return nil
	}
	t, err := r.state.solveAnew(ctx, scheduling.EffortFast, r.state.loose)
	r.anew = t
	return err
}

// mostSearches is how often the search is begun anew because nodes were left that were to go.
const mostSearches = 3

// save carries out what the search finds, as far as that is possible in steps.
func (r *run) save(ctx context.Context, t *target) error {
	for i := 0; i < mostSearches && !over(ctx); i++ {
		before := r.state.price()
		x := &search{state: r.state, target: t, receiving: r.state.staying()}
		left, err := r.reach(ctx, x)
		if err != nil || r.done || !left || r.state.price() == before {
			return err
		}
	}
	return nil
}

// reach carries out what leads to one of the ends of a search: to that which is cheapest when
// it is reached in steps. It reports whether nodes are left that should have gone.
func (r *run) reach(ctx context.Context, x *search) (left bool, err error) {
	ends, err := x.ends(ctx)
	if err != nil {
		return false, err
	}
	if r.state.large() {
		rest, err := r.inSteps(ctx, combined(ends[0].moves, r.state.rebooked), nil)
		return len(rest) > 0, err
	}
	way, left, err := r.cheapest(ctx, ends)
	if err != nil || way == nil {
		return false, err
	}
	return left, r.makeThoseOf(way)
}

// makeThoseOf makes the steps that a trial has made beyond this run's.
func (r *run) makeThoseOf(way *run) error {
	for i := len(r.steps); i < len(way.steps) && !r.done; i++ {
		if err := r.make(&way.steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// cheapest is the way to the end that is cheapest when it is reached in steps, and whether
// nodes are left that should have gone; nil where all ends are known.
func (r *run) cheapest(ctx context.Context, ends []*search) (way *run, left bool, err error) {
	for _, end := range ends {
		if way != nil && end.state.price() >= way.state.price() {
			continue
		}
		step := combined(end.moves, end.state.rebooked)
		if slices.ContainsFunc(r.triedEnds, step.leadsTo) {
			continue
		}
		r.triedEnds = append(r.triedEnds, step)
		t, rest, err := r.tryInSteps(ctx, step)
		if err != nil {
			return nil, false, err
		}
		if way == nil || t.state.price() < way.state.price() {
			way, left = t, rest
		}
		if !rest || over(ctx) {
			break
		}
	}
	return way, left, nil
}

// mostTries is how often a way is looked for: nodes that were left the last time go first.
const mostTries = 3

// tryInSteps carries out what leads to where a step leads in a copy of the cluster, and returns the
// try that ends cheapest, and whether nodes are left that should have gone.
func (r *run) tryInSteps(ctx context.Context, step *Step) (best *run, left bool, err error) {
	var first []string
	for range mostTries {
		t := r.trial()
		stay, err := t.inSteps(ctx, step, first)
		if err != nil {
			return nil, false, err
		}
		if best == nil || t.state.price() < best.state.price() {
			best, left = t, len(stay) > 0
		}
		if len(stay) == 0 || len(t.steps) == len(r.steps) || over(ctx) {
			break
		}
		first = append(stay, first...)
	}
	return best, left, nil
}

// inSteps carries out what leads to where a step leads, as far as it gets, and returns the nodes
// that stay, and those that could only go onto machines that were not to be bought. Some nodes may be told
// that find their way before the others.
func (r *run) inSteps(ctx context.Context, step *Step, first []string) (left []string, err error) {
	w := newOrdering(r.state, step, first)
	if step.Reason != Underutilized {
		w.foreseen = slices.DeleteFunc(slices.Clone(r.foreseen), func(name string) bool { return slices.Contains(step.Drain, name) })
	}
	if !w.asks {
		r.state.hold()
		defer func() {
			if told := r.state.release(); err == nil {
				err = told
			}
		}()
	}
	for all := true; len(w.waits) > 0 && !r.done && !over(ctx); {
		went, err := r.singly(ctx, w, all)
		if err != nil || r.done || over(ctx) {
			return append(left, namesOf(w.waits)...), err
		}
		step, err := w.leaveTogether(ctx)
		together := step != nil
		if err == nil && !together && all && !went {
			if step, err = w.leaveOnMore(ctx); step == nil {
				return append(left, namesOf(w.waits)...), err
			}
			left = append(left, step.Drain...)
		}
		if err == nil && step != nil {
			err = r.carryOut(w, step)
		}
		if err != nil {
			return nil, err
		}
		all = !together
	}
	return append(left, namesOf(w.waits)...), nil
}

// carryOut makes a step of a way.
func (r *run) carryOut(w *ordering, step *Step) error {
	if err := r.make(step); err != nil {
		return err
	}
	w.follow(step)
	return nil
}

// singly lets nodes go for which nothing has to be bought, one after the other: all that can,
// or those that may have places on what was bought last.
func (r *run) singly(ctx context.Context, w *ordering, all bool) (went bool, err error) {
	for i := 0; i < len(w.waits) && !r.done && !over(ctx); {
		var final *Step
		if all || w.hopes(w.waits[i]) {
			if final, err = w.leaveAlone(ctx, w.waits[i]); err != nil {
				return went, err
			}
		}
		if final == nil {
			i++
			continue
		}
		if err := r.carryOut(w, final); err != nil {
			return went, err
		}
		went = true
	}
	return went, nil
}
