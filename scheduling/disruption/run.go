package disruption

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Plan decides which nodes to remove or replace. An error means a malformed cluster or setting (every fault at once;
// it wraps [scheduling.ErrInvalid]) or a cancelled context. A deadline is no error: the plan has the steps found so
// far, each as safe as ever, and [scheduling.StatusDeadline]. The same cluster and settings give the same plan, for
// any order of lists and number of processors.
func (p Planner) Plan(ctx context.Context, c Cluster) (*ConsolidationPlan, error) {
	free := p.Policy.Placement == scheduling.PlacementFree
	r, err := p.begin(ctx, &c, free, &provisioning.Session{})
	if err != nil {
		return nil, err
	}
	r.observer = p.Observer
	start := withoutSessions(r.state)
	if err := r.search(ctx); err != nil {
		return nil, err
	}
	r.observe(scheduling.PhaseProve)
	if err := findRebuilt(ctx, r); err != nil {
		return nil, err
	}
	plan := assemble(r)
	stateShares(&c, plan, free)
	if free {
		plan.Cordon = cordon(plan.Steps)
		if plan.Summary.AfterScheduling, err = realise(ctx, start, plan, r.state.sessions.Launch); err != nil {
			return nil, err
		}
	}
	if plan.Summary.Alternative, err = r.state.planner.alternative(ctx, &c); err == nil {
		r.observe(scheduling.PhaseDone)
	}
	return plan, err
}

// withoutSessions is a fork without sessions, on which the steps of a plan are played; nil if pods are pinned.
func withoutSessions(f *state) *state {
	if f.pinned {
		return nil // steps are only played for kube-scheduler
	}
	out := f.fork()
	out.sessions = nil
	return out
}

// Steps yields the steps of [Planner.Plan] as they are found, so that the first can be carried out during the search
// for the others. An error of [Planner.Plan] comes last, with an empty step. A caller that stops early loses only
// further steps.
func (p Planner) Steps(ctx context.Context, c Cluster) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		r, err := p.begin(ctx, &c, p.Policy.Placement == scheduling.PlacementFree, &provisioning.Session{})
		if err == nil {
			r.observer = p.Observer
			r.onStep = func(step *Step) bool { return yield(*step, nil) }
			err = r.search(ctx)
		}
		if err != nil && (r == nil || !r.done) {
			yield(Step{}, err)
		}
	}
}

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
}

// begin validates the cluster and opens its state. With free, kube-scheduler binds evicted pods; otherwise they are
// pinned. The known session is one that has read the same catalogs, to save time.
func (p Planner) begin(ctx context.Context, c *Cluster, free bool, known *provisioning.Session) (*run, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	found := check(&p, c)
	p.Policy.Placement = scheduling.PlacementPinned // simulations pin pods
	if p.Now.IsZero() {
		p.Now = c.Now
	}
	cluster := c.Current()
	cluster.Now = p.Now
	var s *state
	err := joined(found, nil)
	if err == nil {
		s, err = openState(ctx, p, divided(&cluster), known)
	}
	if err == nil {
		s.pinned = !free
	}
	switch {
	case errors.Is(err, scheduling.ErrInvalid):
		_, problem := provisioning.NewSession(p.Policy, cluster.Problem)
		if problem == nil && len(found.List) == 0 {
			problem = err // a session may be without a catalog, a plan may not
		}
		return nil, joined(found, problem)
	case err != nil:
		return nil, err
	}
	r := &run{state: s, causes: map[string][]Cause{}}
	r.before = r.state.tally()
	return r, nil
}

// search makes all steps; a deadline is noted and is no error. In large clusters steps that save are final as they are found, otherwise once trials have
// shown that they leave no saving to the next plan.
func (r *run) search(ctx context.Context) error {
	return r.noteDeadline(ctx, r.phases(ctx))
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

// phases makes all steps, in the order of reasons.
func (r *run) phases(ctx context.Context) error {
	if err := forced(ctx, r); err != nil || r.done {
		return err
	}
	if !r.state.large() && !r.noLookahead {
		return lookAhead(ctx, r)
	}
	if err := r.disruptBy(ctx, consolidation{}, rebalancing{}); err != nil || r.noLookahead {
		return err
	}
	return unlessDeadline(ctx, explainStays(ctx, r))
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
		return slices.ContainsFunc(o.evictions, func(e Eviction) bool { return e.To == name })
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
