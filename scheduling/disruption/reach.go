package disruption

import (
	"context"
	"slices"
)

// reachInSteps splits a step into smaller ones and makes them, as far as it gets. It returns the nodes that stay, and
// those that were only removed with launches beyond the step. The nodes in first are tried before the others.
func reachInSteps(ctx context.Context, r *run, step *Step, first []string) (left []string, err error) {
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
		went, err := removeSingly(ctx, r, w, all)
		if err != nil || r.done || outOfTime(ctx) {
			return append(left, leavingNames(w.remaining)...), err
		}
		step, err := w.stepForGroup(ctx)
		together := step != nil
		if err == nil && !together && all && !went {
			if step, err = w.stepWithMoreLaunches(ctx); step == nil {
				return append(left, leavingNames(w.remaining)...), err
			}
			left = append(left, step.Drain...)
		}
		if err == nil && step != nil {
			err = commitOrdered(r, w, step)
		}
		if err != nil {
			return nil, err
		}
		all = !together
	}
	return append(left, leavingNames(w.remaining)...), nil
}

// commitOrdered makes a step of an ordering.
func commitOrdered(r *run, w *ordering, step *Step) error {
	if err := r.commit(step); err != nil {
		return err
	}
	w.apply(step)
	return nil
}

// removeSingly removes nodes one by one without launches: all for which there is a step, or only those with pods that
// the last launches take in. It reports whether one was removed.
func removeSingly(ctx context.Context, r *run, w *ordering, all bool) (went bool, err error) {
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
		if err := commitOrdered(r, w, final); err != nil {
			return went, err
		}
		went = true
	}
	return went, nil
}
