package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// consolidate makes the steps that save, each once it is final.
func (r *run) consolidate(ctx context.Context) error {
	if err := r.findTarget(ctx); err != nil {
		return err
	}
	r.findings = &findings{bound: r.target.bound, target: r.target}
	err := r.saveToward(ctx, r.target)
	r.findings.timedOut = outOfTime(ctx)
	return err
}

// findTarget rebuilds the cluster from scratch, as an aim of the search for savings, unless that was done before.
func (r *run) findTarget(ctx context.Context) error {
	if r.target != nil {
		return nil
	}
	t, err := solveRebuild(ctx, r.state, scheduling.EffortFast, r.state.disruptable)
	r.target = t
	return err
}

// mostSearches is how often the search begins again because nodes have stayed that it wanted to remove.
const mostSearches = 3

// saveToward makes the steps to cheaper clusters that the search finds, as far as there are steps.
func (r *run) saveToward(ctx context.Context, t *rebuildTarget) error {
	for i := 0; i < mostSearches && !outOfTime(ctx); i++ {
		before := r.state.price()
		x := &search{state: r.state, target: t, excluded: r.state.excludedNodes()}
		left, err := r.reachCheapest(ctx, x)
		if err != nil || r.done || !left || r.state.price() == before {
			return err
		}
	}
	return nil
}

// reachCheapest makes the steps to that solution of a search which is cheapest when it is reached in steps. It
// reports whether nodes have stayed that should be removed.
func (r *run) reachCheapest(ctx context.Context, x *search) (left bool, err error) {
	ends, err := x.solutions(ctx)
	if err != nil {
		return false, err
	}
	if r.state.large() {
		rest, err := r.reachInSteps(ctx, combined(ends[0].moves, r.state), nil)
		return len(rest) > 0, err
	}
	way, left, err := r.cheapestTrial(ctx, ends)
	if err != nil || way == nil {
		return false, err
	}
	return left, r.commitFrom(way)
}

// commitFrom makes the steps that a trial has made beyond this run's.
func (r *run) commitFrom(way *run) error {
	for i := len(r.steps); i < len(way.steps) && !r.done; i++ {
		if err := r.commit(&way.steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// cheapestTrial is a trial of the steps to the solution that ends cheapest, and whether nodes have stayed that should
// be removed; nil if all solutions were tried before.
func (r *run) cheapestTrial(ctx context.Context, ends []*search) (way *run, left bool, err error) {
	for _, end := range ends {
		if way != nil && end.state.price() >= way.state.price() {
			continue
		}
		step := combined(end.moves, end.state)
		if slices.ContainsFunc(r.triedSolutions, step.leadsTo) {
			continue
		}
		r.triedSolutions = append(r.triedSolutions, step)
		t, rest, err := r.trialInSteps(ctx, step)
		if err != nil {
			return nil, false, err
		}
		if way == nil || t.state.price() < way.state.price() {
			way, left = t, rest
		}
		if !rest || outOfTime(ctx) {
			break
		}
	}
	return way, left, nil
}

// mostTries is how often the steps to a solution are looked for: nodes that stayed the last time are tried first.
const mostTries = 3

// trialInSteps splits a step into smaller ones in trials, and returns the trial that ends cheapest, and whether nodes
// have stayed that should be removed.
func (r *run) trialInSteps(ctx context.Context, step *Step) (best *run, left bool, err error) {
	var first []string
	for range mostTries {
		t := r.trial()
		stay, err := t.reachInSteps(ctx, step, first)
		if err != nil {
			return nil, false, err
		}
		if best == nil || t.state.price() < best.state.price() {
			best, left = t, len(stay) > 0
		}
		if len(stay) == 0 || len(t.steps) == len(r.steps) || outOfTime(ctx) {
			break
		}
		first = append(stay, first...)
	}
	return best, left, nil
}

// reachInSteps splits a step into smaller ones and makes them, as far as it gets. It returns the nodes that stay, and
// those that were only removed with launches beyond the step. The nodes in first are tried before the others.
func (r *run) reachInSteps(ctx context.Context, step *Step, first []string) (left []string, err error) {
	w := newOrdering(r.state, step, first)
	if step.Reason != Underutilized {
		w.expectedRemovals = slices.DeleteFunc(slices.Clone(r.expectedRemovals), func(name string) bool { return slices.Contains(step.Drain, name) })
	}
	if !w.resimulates {
		r.state.sessions.Defer()
		defer func() {
			if told := r.state.sessions.ApplyDeferred(); err == nil {
				err = told
			}
		}()
	}
	for all := true; len(w.remaining) > 0 && !r.done && !outOfTime(ctx); {
		went, err := r.removeSingly(ctx, w, all)
		if err != nil || r.done || outOfTime(ctx) {
			return append(left, namesOf(w.remaining)...), err
		}
		step, err := w.stepForGroup(ctx)
		together := step != nil
		if err == nil && !together && all && !went {
			if step, err = w.stepWithMoreLaunches(ctx); step == nil {
				return append(left, namesOf(w.remaining)...), err
			}
			left = append(left, step.Drain...)
		}
		if err == nil && step != nil {
			err = r.commitOrdered(w, step)
		}
		if err != nil {
			return nil, err
		}
		all = !together
	}
	return append(left, namesOf(w.remaining)...), nil
}

// commitOrdered makes a step of an ordering.
func (r *run) commitOrdered(w *ordering, step *Step) error {
	if err := r.commit(step); err != nil {
		return err
	}
	w.apply(step)
	return nil
}

// removeSingly removes nodes one by one without launches: all for which there is a step, or only those with pods that
// the last launches take in. It reports whether one was removed.
func (r *run) removeSingly(ctx context.Context, w *ordering, all bool) (went bool, err error) {
	for i := 0; i < len(w.remaining) && !r.done && !outOfTime(ctx); {
		var final *Step
		if all || w.fitsLastLaunched(w.remaining[i]) {
			if final, err = w.stepForOne(ctx, w.remaining[i]); err != nil {
				return went, err
			}
		}
		if final == nil {
			i++
			continue
		}
		if err := r.commitOrdered(w, final); err != nil {
			return went, err
		}
		went = true
	}
	return went, nil
}
