package disruption

import (
	"context"
	"slices"

	"github.com/samber/lo"
)

// reachInSteps splits a step into smaller ones and makes them, as far as it gets. It returns the nodes that stay, and
// those that were only removed with launches beyond the step. The nodes in first are tried before the others. A step that
// moves virtual pods between nodes that stay, to make room for real ones, is not split, because package order knows only the
// nodes that are removed.
func reachInSteps(ctx context.Context, r *run, step *Step, first []string) (left []string, err error) {
	drained := lo.Keyify(step.Drain)
	if slices.ContainsFunc(step.Evictions, func(e Eviction) bool { return !lo.HasKey(drained, e.From) }) {
		return step.Drain, nil
	}
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
	for all := true; w.order.Len() > 0 && !r.done && !outOfTime(ctx); {
		went, err := removeSingly(ctx, r, w, all)
		if err != nil || r.done || outOfTime(ctx) {
			return append(left, w.order.Remaining()...), err
		}
		grouped, err := w.order.RemoveGroup(ctx)
		step := w.step
		if err == nil && !grouped {
			step = nil
		}
		if err == nil && !grouped && all && !went {
			if step, err = w.stepWithMoreLaunches(ctx); step == nil {
				return append(left, w.order.Remaining()...), err
			}
			left = append(left, step.Drain...)
		}
		if err == nil && step != nil {
			err = commitOrdered(r, w, step)
		}
		if err != nil {
			return nil, err
		}
		all = !grouped
	}
	return append(left, w.order.Remaining()...), nil
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
	for i := 0; i < w.order.Len() && !r.done && !outOfTime(ctx); {
		alone := false
		if all || w.order.FitsLastLaunched(i) {
			if alone, err = w.order.RemoveOne(ctx, i); err != nil {
				return went, err
			}
		}
		if !alone {
			i++
			continue
		}
		if err := commitOrdered(r, w, w.step); err != nil {
			return went, err
		}
		went = true
	}
	return went, nil
}
