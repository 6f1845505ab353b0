package disruption

import (
	"context"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// lookAhead tries out the steps that save, and the next plan with them, before the first of them is final, so that
// this plan leaves that one no saving. With more than the least effort, the least is tried first, so that more effort
// never gives a dearer cluster.
func lookAhead(ctx context.Context, r *run) error {
	if r.state.rules.enabled(Underutilized) {
		if err := r.findTarget(ctx); err != nil && !outOfTime(ctx) {
			return err
		}
	}
	best, err := trialWithEffort(ctx, r, scheduling.EffortFast, math.MaxInt64, nil)
	if err != nil {
		return err
	}
	if trials := (improver{best: best}); !r.state.fast() && trials.mayTry(ctx) {
		more, err := trialWithEffort(ctx, r, r.state.planner.Policy.Effort, best.state.price(), best.triedSolutions)
		if err != nil {
			return err
		}
		if !trials.accept(more) {
			best.timedOut = best.timedOut || more.timedOut
		}
		best = trials.best
	}
	if err := unlessDeadline(ctx, explainStays(ctx, best)); err != nil {
		return err
	}
	return commitTrial(r, best)
}

// trialWithEffort is a trial of the steps that save, with an effort, and, if these lead below a price, of the next
// plan's. Solutions that were tried before are left out.
func trialWithEffort(ctx context.Context, r *run, effort scheduling.Effort, below offerings.Price, triedEnds []*Step) (*run, error) {
	y := r.trial()
	y.triedSolutions = slices.Clip(triedEnds)
	y.observer, y.state.planner.Policy.Effort = r.observer, effort
	err := y.disruptBy(ctx, consolidation{}, rebalancing{})
	if err == nil && y.state.price() >= below {
		return y, cancelled(ctx)
	}
	ahead := lookahead{base: r, trial: y}
	calm, next := true, (*run)(nil)
	if err == nil && !outOfTime(ctx) && r.state.rules.enabled(Underutilized) && (r.state.pinned || slices.ContainsFunc(r.steps, func(s Step) bool { return len(s.Evictions) > 0 })) {
		calm, next, err = ahead.merge(ctx, false, nil)
	}
	if err == nil && !outOfTime(ctx) && (!calm || y.hasPendingPods()) {
		steps := len(y.steps)
		if err = ahead.appendLater(ctx); len(y.steps) != steps {
			next = nil
		}
	}
	if err == nil && !outOfTime(ctx) && !calm {
		_, _, err = ahead.merge(ctx, true, next)
	}
	if err != nil && !outOfTime(ctx) {
		return nil, err
	}
	y.timedOut = y.timedOut || err != nil
	return y, cancelled(ctx)
}

// lookahead changes a trial so that it leaves the next plan no saving. base is the run before the steps that save.
type lookahead struct{ base, trial *run }

// merge makes the savings of next plans in the trial: instead of the steps since a base, so that no pod
// moves twice, or after them with nodes that have taken in no pods. It reports whether no saving is left. With even,
// it also goes where the next plan leads in another way at the same price, because less may be left to save there. It
// begins with the next plan if that is known, and returns the one of which it could make no step, if there is one.
func (l lookahead) merge(ctx context.Context, even bool, next *run) (calm bool, left *run, err error) {
	r := l.trial
	for trials := 0; len(r.steps) > 0 && r.findings != nil; trials++ {
		if even && trials == mostTrials {
			return false, nil, nil
		}
		if next == nil {
			if next, err = nextPlan(ctx, r, true); err != nil {
				return true, nil, err
			}
		}
		if len(next.steps) == 0 {
			return true, nil, nil
		}
		ok, err := l.mergeNext(ctx, next, even)
		if err != nil {
			return false, nil, err
		}
		if before := len(r.steps); !ok {
			if err := r.disruptBy(ctx, consolidation{target: next.findings.target}); err != nil || len(r.steps) == before {
				return false, next, err
			}
		}
		r.capBound()
		next = nil
	}
	return true, nil, nil
}

// mergeNext goes directly to the cluster after the next plan, as far as there are steps, and on from there. It
// keeps the result if that is better than the trial or, with even, as good, and reports whether it did.
func (l lookahead) mergeNext(ctx context.Context, next *run, even bool) (bool, error) {
	base, r := l.base, l.trial
	var moves []*Step
	receiving := base.state.nodesWhere(func(s *candidate) bool { return s.receivedPods || s.launched })
	for _, steps := range [][]Step{r.steps[len(base.steps):], next.steps} {
		for i := range steps {
			if !steps[i].saves() || slices.ContainsFunc(steps[i].Drain, func(name string) bool { return receiving[name] }) {
				return false, nil
			}
			moves = append(moves, &steps[i])
		}
	}
	t, left, err := base.trialInSteps(ctx, combined(moves, next.state))
	if err == nil && left {
		err = t.disruptBy(ctx, consolidation{target: next.findings.target})
	}
	if err != nil {
		return false, err
	}
	if c := compareRuns(t, r); c > 0 || c == 0 && !even {
		return false, nil
	}
	r.state, r.steps = t.state, t.steps
	return true, nil
}

// appendLater makes the steps of plans right after the trial, up to the last that saves. Pods that had to move
// may move once more by that, e.g. because the machine of a reservation is only free when the node that holds it has
// been removed. Pending pods may be expected elsewhere by then, and the nodes where they were expected may be
// removed.
func (l lookahead) appendLater(ctx context.Context) error {
	r := l.trial
	y := r.trial()
	for range mostTrials {
		next, err := nextPlan(ctx, y, false)
		if err != nil || len(next.steps) == 0 {
			return err
		}
		r.timedOut = r.timedOut || next.timedOut
		for i := range next.steps {
			step := repeatedStep(y, &next.steps[i])
			if step == nil {
				return nil
			}
			if err := y.commit(step); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(next.steps, func(s Step) bool { return s.saves() }) {
			r.state, r.steps = y.state, y.steps
			y = r.trial()
			r.capBound()
		}
	}
	return nil
}

// repeatedStep is a step of the next plan as one of this plan, nil if it is not admitted. Pods that were moved to
// save stay.
func repeatedStep(r *run, step *Step) *Step {
	for _, e := range step.Evictions {
		for i := range r.steps {
			if e.Virtual {
				break // it may move with each step
			}
			by := &r.steps[i]
			if moved := slices.ContainsFunc(by.Evictions, func(x Eviction) bool { return x.Pod == e.Pod }); moved && (!by.forced() || !step.saves()) {
				return nil
			}
		}
	}
	if step.Reason == Misplaced {
		return step
	}
	out, _ := admit(r.state, step.Reason, &outcome{nodes: step.Drain, launches: step.Launches, moves: movesOf(step.Evictions)})
	return out
}

// commitTrial makes the steps of a trial. They are known to be possible, so no session is asked. If the plan ends
// early, the rejected moves are dropped, because they are those of the cluster after all steps.
func commitTrial(r, y *run) error {
	r.causes, r.warnings, r.findings, r.timedOut = y.causes, y.warnings, y.findings, y.timedOut
	r.state.sessions.Defer()
	observer := r.observer
	r.observer = nil // it was told of these steps by the trial
	defer func() { r.observer = observer }()
	for i := len(r.steps); i < len(y.steps); i++ {
		if err := r.commit(&y.steps[i]); err != nil {
			return err
		}
		if r.done && i < len(y.steps)-1 {
			if r.findings != nil {
				r.findings.rejected, r.findings.causes = nil, nil
			}
			break
		}
	}
	return nil
}
