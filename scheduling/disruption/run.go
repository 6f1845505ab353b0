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

// Plan decides which nodes to remove or replace. An error means a malformed cluster or
// setting (every fault at once; it wraps [scheduling.ErrInvalid]) or a cancelled context.
// A deadline is no error: the steps found so far come back, each as safe as ever, marked
// [scheduling.StatusDeadline]. The same cluster and settings give the same plan, whatever
// the order of lists and the number of processors.
func (p Planner) Plan(ctx context.Context, c Cluster) (*Plan, error) {
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
		if plan.Summary.Realised, err = start.realise(ctx, plan, r.state.launchSession); err != nil {
			return nil, err
		}
	}
	if plan.Summary.Alternative, err = r.state.planner.alternative(ctx, &c); err == nil {
		r.observe(scheduling.PhaseDone)
	}
	return plan, err
}

// unasked is a copy of the state that no what-if is asked of: the steps of a plan are played on it.
func (f *state) withoutSessions() *state {
	if f.pinned {
		return nil // nothing is played where pods go where a step says
	}
	out := f.fork()
	out.launchSession, out.placeSession = nil, nil
	return out
}

// Steps yields the steps of [Planner.Plan] as they are found, so that the first can be
// carried out while the others are looked for. An error comes last, with an empty step:
// those that [Planner.Plan] returns. Whoever stops early loses nothing but further steps.
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

// run is the making of a plan.
type run struct {
	state *state
	steps []Step
	// found, if set, is told of each step, and says whether to go on; done says that it
	// does not want more.
	onStep func(*Step) bool
	done   bool
	// foreseen are the nodes that the plan is expected to remove.
	expectedRemovals []string
	// avoided are nodes that take in no pods while nodes have to go.
	closedForForced []string
	// observer is told of phases and of the steps that are tried out first.
	observer scheduling.Observer
	// late says that a deadline ended the search.
	timedOut bool
	// causes are why nodes stay, by name, as far as steps that have to be found out.
	causes   map[string][]Cause
	warnings []scheduling.Warning
	findings *findings
	before   tally
	// last says that the plan does not go on with the next.
	noLookahead bool
	// triedEnds are ends of the search, as single steps, that were looked for in smaller steps already.
	triedSolutions []*Step
	// anew is the cluster bought afresh, at which the search for savings aims; nil until it is asked for. Which steps
	// are made makes no difference to it.
	target *rebuildTarget
}

// findings are what the search for savings found out beside its steps.
type findings struct {
	// rejected is the best move of a node that was not taken, causes what speaks against
	// moves of it, by name of the node.
	rejected map[string]*Rejected
	causes   map[string][]Cause
	// late says that a deadline ended the search.
	timedOut bool
	// bound is a price below which no set of machines can be, 0 where none is proven.
	bound offerings.Price
	// anew is the cluster bought afresh, rebuilt that without any node of today.
	target, rebuilt *rebuildTarget
}

// begin reads the cluster. If kube-scheduler is free to, it binds evicted pods where it likes; else they
// land where a step says. A session tells what is known of catalogs.
func (p Planner) begin(ctx context.Context, c *Cluster, free bool, known *provisioning.Session) (*run, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	faults := check(&p, c)
	p.Policy.Placement = scheduling.PlacementPinned // what-ifs say where pods go
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

// search makes all steps: those that save something as they are found in large clusters, else once
// it is known that they leave nothing to do.
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

// beforehand foresees the plan where nodes have to go. If a deadline ends that, the steps that have to be are made
// without foresight.
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

// foresee finds out which nodes the plan would remove if evicted pods went where a step says, so that those of nodes
// that have to go do not go to them. If the plan after it would remove nodes to which these pods go, such nodes take in
// none while others have to go, where that ends cheaper.
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

// consolidates reports whether steps that save something are foreseen.
func (r *run) consolidates() bool { return !r.state.large() && r.state.enabled(Underutilized) }

// tryForced is a trial of the steps that have to be, for which some nodes take in no pods, and of those that save something.
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

// removedNext are the nodes to which pods of nodes that had to go have moved, and which the next plan removes.
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

// waiting is how many pods have no node, and how many nodes that have to go are still there.
func (r *run) unresolvedCount() int {
	n := len(r.state.awaitingLaunch) + len(r.forcedRemovals())
	for i := range r.steps {
		n += lo.CountBy(r.steps[i].Evictions, func(e Eviction) bool { return e.To == "" })
	}
	return n
}

// phases makes the steps that a search finds, and those that come after them.
func (r *run) savingPhases(ctx context.Context) error {
	var err error
	if r.state.enabled(Underutilized) {
		r.observe(scheduling.Phase(Underutilized))
		err = r.consolidate(ctx)
		r.capBound()
	}
	if err == nil && !r.done && r.state.enabled(Misplaced) {
		r.observe(scheduling.Phase(Misplaced))
		err = r.rebalance(ctx)
	}
	return err
}

// tell tells the observer of a phase and of what the steps so far come to.
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

// ended tells a deadline that ended the search from what is an error.
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

// make carries a step out and takes it into the plan.
func (r *run) commit(step *Step) error {
	told := *step
	told.Risks = r.state.risks(step)
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

// rebuild looks for the cheapest cluster for the same pods, whatever holds nodes back, and with more effort than the least
// for a higher bound.
func (r *run) findRebuilt(ctx context.Context) error {
	found := r.findings
	if found == nil || found.target == nil || outOfTime(ctx) {
		return cancelled(ctx)
	}
	cheapest := found.target
	if !r.state.fast() {
		t, err := r.state.solveRebuild(ctx, r.state.planner.Policy.Effort, r.state.disruptable)
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
	all := r.state.rebuildable()
	if len(all) == len(r.state.disruptable) {
		found.rebuilt = cheapest
		return nil
	}
	var err error
	found.rebuilt, err = r.state.solveRebuild(ctx, r.state.planner.Policy.Effort, all)
	return r.searchError(ctx, err)
}

// alternative looks with little effort for the cheapest cluster of other NodePools, as
// [Summary.Rebuilt] is one of its own; nil where there are none to compare with, or no node
// of a pool has a price.
func (p Planner) alternative(ctx context.Context, c *Cluster) (*Rebuilt, error) {
	if len(c.Alternative) == 0 || outOfTime(ctx) {
		return nil, nil //nolint:nilnil // nothing to compare with is no error, nor is too little time
	}
	f := newState(p, c)
	all := f.rebuildable()
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // nothing to compare
	}
	other := c.Problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := f.solveRebuild(ctx, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return f.rebuilt(t), nil
}
