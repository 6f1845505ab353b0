package disruption

import (
	"context"
	"errors"
	"iter"

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
	stateShares(r.state.division, plan, free)
	if free {
		plan.Cordon = cordon(plan.Steps)
		if plan.Summary.AfterScheduling, err = realise(ctx, start, plan, r.state.sessions.Launch); err != nil {
			return nil, err
		}
	}
	if plan.Summary.Alternative, err = r.state.planner.alternative(ctx, r.state.cluster.WithRoom(plan.Room)); err == nil {
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

// search makes all steps; a deadline is noted and is no error. In large clusters steps that save are final as they are found, otherwise once trials have
// shown that they leave no saving to the next plan.
func (r *run) search(ctx context.Context) error {
	return r.noteDeadline(ctx, r.phases(ctx))
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
		s, err = openState(ctx, p, &cluster, known)
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
