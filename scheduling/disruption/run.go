package disruption

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// run makes a plan.
type run struct {
	state *state
	steps []Step
	// onStep, if set, is called with each step, and returns false to end the plan; done says that the plan has ended
	// by that or by MaxSteps.
	onStep func(*Step) bool
	done   bool
	// expectedRemovals are the nodes that the plan is expected to remove.
	expectedRemovals []string
	// observer is told of phases and of the steps of trials.
	observer scheduling.Observer
	// timedOut says that a deadline ended the search.
	timedOut bool
	// causes are the causes for which nodes stay, by name, as far as they were found during the search.
	causes   map[string][]Cause
	warnings []scheduling.Warning
	findings *findings
	before   tally
	// noLookahead says that the run itself is a next plan, so that it makes none.
	noLookahead bool
	// triedSolutions are solutions of searches, as single steps, that were split into smaller ones before.
	triedSolutions []*Step
	// target is the cluster rebuilt from scratch, at which the search for savings aims; nil until it is needed. It
	// does not depend on the steps.
	target *rebuildTarget
}

// findings are the results of the search for savings beside its steps.
type findings struct {
	// rejected is the best move of a node that was not made, causes are the causes against its moves, by name of the
	// node.
	rejected map[string]*RejectedMove
	causes   map[string][]Cause
	// timedOut says that a deadline ended the search.
	timedOut bool
	// bound is the proven least price, 0 if none is proven.
	bound offerings.Price
	// target is the cluster rebuilt from scratch, rebuilt the same without any existing node.
	target, rebuilt *rebuildTarget
	// withoutRoom is the price of rebuilt without the room of virtual pods; nil if it is not known.
	withoutRoom *offerings.Price
}

// noteDeadline is an error of the search, or that of a cancelled context; nil for a passed deadline, which is noted.
func (r *run) noteDeadline(ctx context.Context, err error) error {
	if cause := cancelled(ctx); cause != nil {
		return cause
	}
	if errors.Is(err, context.DeadlineExceeded) {
		r.timedOut = true
		return nil
	}
	return err
}

// observe tells the observer of a phase and the sums of the steps so far.
func (r *run) observe(phase scheduling.Phase) {
	if r.observer == nil {
		return
	}
	p := scheduling.Progress{Phase: phase, Steps: len(r.steps), PricePerHour: r.state.tally().price}
	if r.findings != nil {
		p.LowerBoundPerHour = r.findings.bound
	}
	r.observer(p)
}

// commit applies a step and adds it to the plan.
func (r *run) commit(step *Step) error {
	told := *step
	told.Risks = risksOfStep(r.state, step)
	told.Evictions = slices.Clone(step.Evictions)
	for i := range told.Evictions {
		e := &told.Evictions[i]
		e.Virtual = scheduling.IsVirtual(r.state.pods[e.Pod])
	}
	if err := r.state.take(step); err != nil {
		return fmt.Errorf("step %d: %w", len(r.steps)+1, err)
	}
	r.steps = append(r.steps, told)
	r.observe(scheduling.Phase(step.Reason))
	if most := r.state.planner.MaxSteps; most > 0 && len(r.steps) >= most {
		r.done = true
	}
	if r.onStep != nil && !r.onStep(&told) {
		r.done = true
	}
	return nil
}

// hasPendingPods reports whether there are pending pods, expected on a node or not.
func (r *run) hasPendingPods() bool {
	return len(r.state.awaitingLaunch) > 0 || slices.ContainsFunc(r.state.nodes, func(s *candidate) bool { return len(s.expected) > 0 })
}

// tryStep makes a step of an outcome if it is admitted; otherwise the cause is noted.
func (r *run) tryStep(reason Reason, o *outcome) error {
	step, cause := decide(r.state, reason, o, r.laterRemovals(o))
	if cause != nil {
		for _, name := range o.nodes {
			r.note(name, *cause)
		}
		return nil
	}
	return r.commit(step)
}

// laterRemovals are the expected removals of the plan, without nodes where pods of an outcome are expected.
func (r *run) laterRemovals(o *outcome) []string {
	return slices.DeleteFunc(slices.Clone(r.expectedRemovals), func(name string) bool {
		return slices.ContainsFunc(o.moves, func(m landing.Move) bool { return m.To == name })
	})
}

// outOfTime reports whether the search must end, and notes a deadline.
func (r *run) outOfTime(ctx context.Context) bool {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.timedOut = true
	}
	return ctx.Err() != nil
}

// warn adds a warning to the plan.
func (r *run) warn(object, message string) {
	r.warnings = append(r.warnings, scheduling.Warning{Object: object, Message: message})
}

// note keeps a cause for which a node stays, in the order of the search.
func (r *run) note(node string, cause Cause) { r.causes[node] = withCause(r.causes[node], cause) }

// adopt makes the steps of a trial and takes over its causes and warnings.
func (r *run) adopt(trial *run) error {
	r.causes, r.warnings, r.timedOut = trial.causes, trial.warnings, r.timedOut || trial.timedOut
	return r.commitFrom(trial)
}

// commitFrom makes the steps that a trial has made beyond this run's.
func (r *run) commitFrom(trial *run) error {
	for i := len(r.steps); i < len(trial.steps) && !r.done; i++ {
		if err := r.commit(&trial.steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// trial is a run that continues this one on a fork of its state.
func (r *run) trial() *run {
	y := &run{
		state: r.state.fork(), steps: slices.Clone(r.steps),
		causes: maps.Clone(r.causes), warnings: slices.Clone(r.warnings), before: r.before, target: r.target,
	}
	y.state.planner.MaxSteps = 0
	return y
}

// capBound lowers the bound to the cluster's price if it is above: a machine that can no longer be launched may hold
// pods for less than the catalog's offerings do.
func (r *run) capBound() {
	if r.findings != nil {
		r.findings.bound = min(r.findings.bound, r.state.price())
	}
}

// disruptBy makes the steps of methods, one after the other.
func (r *run) disruptBy(ctx context.Context, methods ...method) error {
	for _, m := range methods {
		if err := m.disrupt(ctx, r, m.candidates(r)); err != nil || r.done {
			return err
		}
	}
	return nil
}

// removable are the candidates for a reason. The causes for which other nodes stay are noted.
func (r *run) removable(reason Reason) []*candidate {
	may, not := removable(r.state, reason)
	for name, cause := range not {
		r.note(name, cause)
	}
	return may
}
