package disruption

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/samber/lo"

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
	start := r.state.withoutSessions()
	if err := r.search(ctx); err != nil {
		return nil, err
	}
	r.observe(scheduling.PhaseProve)
	if err := r.findRebuilt(ctx); err != nil {
		return nil, err
	}
	plan := r.assemble()
	if free {
		plan.Cordon = cordon(plan.Steps)
		if plan.Summary.Realised, err = realise(ctx, start, plan, r.state.sessions.Launch); err != nil {
			return nil, err
		}
	}
	if plan.Summary.Alternative, err = r.state.planner.alternative(ctx, &c); err == nil {
		r.observe(scheduling.PhaseDone)
	}
	return plan, err
}

// withoutSessions is a fork without sessions, on which the steps of a plan are played; nil if pods are pinned.
func (f *state) withoutSessions() *state {
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
	// closedForForced are further nodes that take in no pods during the steps for interruption, expiry and drift.
	closedForForced []string
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
	faults := check(&p, c)
	p.Policy.Placement = scheduling.PlacementPinned // simulations pin pods
	if p.Now.IsZero() {
		p.Now = c.Now
	}
	cluster := c.Current()
	cluster.Now = p.Now
	var s *state
	err := faults.joined(nil)
	if err == nil {
		s, err = openState(ctx, p, &cluster, known)
	}
	if err == nil {
		s.pinned = !free
	}
	switch {
	case errors.Is(err, scheduling.ErrInvalid):
		_, problem := provisioning.NewSession(p.Policy, cluster.Problem)
		if problem == nil && len(faults.list) == 0 {
			problem = err // a session may be without a catalog, a plan may not
		}
		return nil, faults.joined(problem)
	case err != nil:
		return nil, err
	}
	r := &run{state: s, causes: map[string][]Cause{}}
	r.before = r.state.tally()
	return r, nil
}

// search makes all steps. In large clusters steps that save are final as they are found, otherwise once trials have
// shown that they leave no saving to the next plan.
func (r *run) search(ctx context.Context) error {
	err := r.prepareForced(ctx)
	if err == nil {
		err = r.removeForced(ctx)
	}
	switch {
	case err != nil || r.done:
	case !r.state.large() && !r.noLookahead:
		err = r.lookAhead(ctx)
	default:
		if err = r.savingPhases(ctx); err == nil && !r.noLookahead {
			err = unlessDeadline(ctx, r.explain(ctx))
		}
	}
	return r.searchError(ctx, err)
}

// prepareForced predicts the removals of the plan if steps for interruption, expiry or drift are needed. If a
// deadline ends that, these steps are made without the prediction.
func (r *run) prepareForced(ctx context.Context) error {
	if len(r.forcedRemovals()) == 0 {
		return nil
	}
	plain := r.trial()
	if err := unlessDeadline(ctx, plain.removeForced(ctx)); err != nil {
		return err
	}
	if err := r.predictRemovals(ctx); err != nil || !outOfTime(ctx) {
		return err
	}
	return r.commitFrom(plain)
}

// predictRemovals finds the nodes that the plan would remove with pinned pods, so that no pods of interrupted,
// expired or drifted nodes go to them. If the next plan would remove nodes to which these pods go, these nodes are
// closed during forced steps, if that ends cheaper.
func (r *run) predictRemovals(ctx context.Context) error {
	consolidates := r.consolidates()
	if r.state.pinned && !consolidates {
		return nil
	}
	if consolidates {
		if err := r.findTarget(ctx); err != nil {
			return unlessDeadline(ctx, err)
		}
	}
	best, err := r.trialOfForced(ctx, nil)
	if err != nil {
		return unlessDeadline(ctx, err)
	}
	for tries := 0; consolidates && !r.noLookahead && tries < mostLaterPlans && !outOfTime(ctx); tries++ {
		next, err := best.nextPlan(ctx, true)
		if err != nil {
			return unlessDeadline(ctx, err)
		}
		avoided := lo.Union(r.closedForForced, best.destinationsRemovedBy(next))
		if len(avoided) == len(r.closedForForced) {
			break
		}
		other, err := r.trialOfForced(ctx, avoided)
		if err != nil {
			return unlessDeadline(ctx, err)
		}
		if other.unresolvedCount() > best.unresolvedCount() || other.state.price() >= best.state.price() {
			break
		}
		best, r.closedForForced = other, avoided
	}
	if !r.state.pinned {
		r.expectedRemovals = best.removed()
	}
	return nil
}

// consolidates reports whether steps that save are to be predicted.
func (r *run) consolidates() bool { return !r.state.large() && r.state.rules.enabled(Underutilized) }

// trialOfForced is a trial of the forced steps and of those that save, with further nodes closed during forced steps.
func (r *run) trialOfForced(ctx context.Context, avoided []string) (*run, error) {
	y := r.trial()
	y.closedForForced = avoided
	y.state.pinned, y.state.planner.Policy.Effort = true, scheduling.EffortFast
	err := y.removeForced(ctx)
	if err == nil && y.consolidates() {
		err = y.consolidate(ctx)
	}
	return y, err
}

// destinationsRemovedBy are the nodes that have taken in pods and that the next plan removes.
func (r *run) destinationsRemovedBy(next *run) []string {
	gone := next.removed()
	return lo.FilterMap(r.state.nodes, func(s *candidate, _ int) (string, bool) {
		return s.name, s.receivedPods && !s.launched && slices.Contains(gone, s.name)
	})
}

// removed are the nodes of the cluster that the steps have removed.
func (r *run) removed() []string {
	return lo.FilterMap(r.state.nodes, func(s *candidate, _ int) (string, bool) { return s.name, s.removed && !s.launched })
}

// unresolvedCount is the number of pods without a node plus the number of nodes that must go and have not.
func (r *run) unresolvedCount() int {
	n := len(r.state.awaitingLaunch) + len(r.forcedRemovals())
	for i := range r.steps {
		n += lo.CountBy(r.steps[i].Evictions, func(e Eviction) bool { return e.To == "" })
	}
	return n
}

// savingPhases makes the steps that save, and those for misplaced pods.
func (r *run) savingPhases(ctx context.Context) error {
	var err error
	if r.state.rules.enabled(Underutilized) {
		r.observe(scheduling.Phase(Underutilized))
		err = r.consolidate(ctx)
		r.capBound()
	}
	if err == nil && !r.done && r.state.rules.enabled(Misplaced) {
		r.observe(scheduling.Phase(Misplaced))
		err = r.rebalance(ctx)
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

// searchError is the error of a search; nil for a deadline, which is noted.
func (r *run) searchError(ctx context.Context, err error) error {
	if cause := cancelled(ctx); cause != nil {
		return cause
	}
	if errors.Is(err, context.DeadlineExceeded) {
		r.timedOut = true
		return nil
	}
	return err
}

// commit applies a step and adds it to the plan.
func (r *run) commit(step *Step) error {
	told := *step
	told.Risks = risksOfStep(r.state, step)
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

// findRebuilt looks for the cheapest cluster for the same pods without the nodes of today, and, unless the effort is
// least, for a higher bound.
func (r *run) findRebuilt(ctx context.Context) error {
	found := r.findings
	if found == nil || found.target == nil || outOfTime(ctx) {
		return cancelled(ctx)
	}
	cheapest := found.target
	if !r.state.fast() {
		t, err := solveRebuild(ctx, r.state, r.state.planner.Policy.Effort, r.state.disruptable)
		if err != nil {
			return r.searchError(ctx, err)
		}
		if t.bound > found.target.bound {
			found.target, found.bound = t, t.bound
			r.capBound()
		}
		if t.price < cheapest.price {
			cheapest = t
		}
	}
	all := rebuildable(r.state)
	if len(all) == len(r.state.disruptable) {
		found.rebuilt = cheapest
		return nil
	}
	var err error
	found.rebuilt, err = solveRebuild(ctx, r.state, r.state.planner.Policy.Effort, all)
	return r.searchError(ctx, err)
}

// alternative is the cheapest cluster of the alternative NodePools that is found with least effort, as
// [ConsolidationSummary.Rebuilt] is one of the cluster's own; nil if there are no such pools, if no node of a pool has a price, or
// after the deadline.
func (p Planner) alternative(ctx context.Context, c *Cluster) (*Rebuilt, error) {
	if len(c.Alternative) == 0 || outOfTime(ctx) {
		return nil, nil //nolint:nilnil // no comparison, or no time for it, is no error
	}
	f := newState(p, c)
	all := rebuildable(f)
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // no node of a pool has a price
	}
	other := c.Problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := solveRebuild(ctx, f, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return f.rebuilt(t), nil
}
