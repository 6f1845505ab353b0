package disruption

import (
	"context"
	"maps"
	"slices"
)

// mostPlans is how many plans one may go on with.
const mostPlans = 4

// further goes on with what the next plans would do right afterwards, up to the last of them
// that saves something. Pods that had to move may move once more by that: a machine of a
// reservation, say, is only to be had again when the one that holds it has gone. Pods that
// wait may be expected elsewhere than at first, and nodes go that they were expected on.
func (r *run) further(ctx context.Context) error {
	if r.done || len(r.steps) == 0 || len(r.state.nodes) >= manyNodes {
		return nil
	}
	y := &run{frame: r.frame.clone(), state: r.state.fork(), steps: slices.Clone(r.steps)}
	y.frame.planner.MaxSteps = 0
	for range mostPlans {
		next, err := y.following(ctx)
		if err != nil || len(next.steps) == 0 {
			return err
		}
		r.late = r.late || next.late
		for i := range next.steps {
			step := y.again(&next.steps[i])
			if step == nil {
				return nil
			}
			if err := y.state.take(step); err != nil {
				return err
			}
			y.emit(step)
		}
		if !slices.ContainsFunc(next.steps, func(s Step) bool { return s.saves() }) {
			continue
		}
		for len(r.steps) < len(y.steps) {
			if !r.emit(&y.steps[len(r.steps)]) {
				return nil
			}
		}
		r.cap()
	}
	return nil
}

// following is the plan that would be made right after the steps.
func (r *run) following(ctx context.Context) (*run, error) {
	after := r.afterwards(false)
	next, err := r.frame.planner.begin(ctx, &after)
	if err != nil {
		return nil, err
	}
	next.last = true
	r.follow(next)
	err = next.search(ctx)
	return next, err
}

// follow lets no machine of the next plan have the name of one that is gone.
func (r *run) follow(next *run) {
	next.state.original, next.state.bought = maps.Clone(next.state.original), maps.Clone(r.state.bought)
	for _, at := range r.frame.subjects {
		next.state.original[at.name] = true
	}
}

// saves reports whether a step is there to save something.
func (s *Step) saves() bool { return s.Reason == Empty || s.Reason == Underutilized }

// again is a step of the next plan as one of this, nil where that must not be: what was moved
// to save something stays.
func (r *run) again(step *Step) *Step {
	for _, e := range step.Evictions {
		if by := r.movedBy(e.Pod); by != nil && (!by.forced() || !step.saves()) {
			return nil
		}
	}
	if step.Reason == Misplaced {
		return step
	}
	out, cause := r.frame.admit(step.Reason, &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions})
	if cause != nil {
		return nil
	}
	return out
}

// movedBy is the last step that moves a pod, nil if none does.
func (r *run) movedBy(pod string) *Step {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if slices.ContainsFunc(r.steps[i].Evictions, func(e Eviction) bool { return e.Pod == pod }) {
			return &r.steps[i]
		}
	}
	return nil
}
