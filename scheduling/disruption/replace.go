package disruption

import (
	"context"
	"slices"
)

// replacement removes nodes for a reason that does not ask for a saving, with launches for their pods.
type replacement struct {
	run    *run
	reason Reason
}

// replace replaces nodes one by one or together, whichever is better.
func (p replacement) replace(ctx context.Context, nodes []*candidate) error {
	r, names := p.run, namesOf(nodes)
	switch {
	case len(nodes) < 2:
		return p.singly(ctx, names)
	case r.state.large():
		return p.together(ctx, names)
	}
	var trials improver
	for _, way := range []func(replacement, context.Context, []string) error{replacement.singly, replacement.together} {
		y := r.trial()
		y.expectedRemovals = r.expectedRemovals
		if err := way(replacement{run: y, reason: p.reason}, ctx, names); err != nil {
			return err
		}
		trials.accept(y)
	}
	return r.adopt(trials.best)
}

// together launches the cheapest machines for the pods of all nodes and removes the nodes in steps as small as
// possible. Nodes for which there is no step are replaced one by one.
func (p replacement) together(ctx context.Context, nodes []string) error {
	r, reason := p.run, p.reason
	names := slices.DeleteFunc(slices.Clone(nodes), func(name string) bool {
		return r.state.byName[name].receivedPods || !withinBudgets(r.state, reason, []string{name})
	})
	for len(names) > 1 && !r.outOfTime(ctx) {
		o, err := simulate(ctx, r.state, &whatIf{nodes: names, launch: true, effort: r.state.planner.Policy.Effort})
		if err != nil {
			return unlessDeadline(ctx, err)
		}
		if len(o.unschedulable) == 0 {
			if r.hasPendingPods() && !allScheduled(r.state, o) {
				break
			}
			step := combined([]*Step{{Drain: o.nodes, Launches: o.launches, Evictions: evictionsOf(o.moves)}}, r.state)
			step.Reason = reason
			if _, err := reachInSteps(ctx, r, step, names); err != nil || r.done {
				return unlessDeadline(ctx, err)
			}
			break
		}
		names = o.placeable(names)
	}
	return p.singly(ctx, nodes)
}

// singly makes a step for each node that can be removed, and notes the cause for each other one.
func (p replacement) singly(ctx context.Context, nodes []string) error {
	r, reason := p.run, p.reason
	for _, name := range nodes {
		s := r.state.byName[name]
		if r.outOfTime(ctx) {
			r.note(s.name, Cause{Code: CauseDeadline, Detail: "the deadline passed before it was considered"})
			continue
		}
		if s.receivedPods || s.removed {
			continue
		}
		if reason == Drifted && s.pool != nil {
			if cause := r.state.poolBudgetCause(s.pool, reason, 1); cause != nil {
				r.note(s.name, *cause)
				continue
			}
		}
		o, lands, err := p.drain(ctx, []string{s.name})
		if err != nil {
			return err
		}
		if !lands {
			r.note(s.name, Cause{Code: CauseNoPlace, Detail: "its pods would break their topology spread, or could only be scheduled after pending pods"})
		} else if err := r.tryStep(reason, o); err != nil || r.done {
			return err
		}
		if !s.removed && reason == Expired {
			r.warn("node/"+s.name, "has expired, and stays because some of its pods fit on no other node")
		}
	}
	return nil
}

// drain simulates the removal of nodes, if possible without launches. Pending pods take part, but they may not be
// scheduled yet when the pods of the nodes are. If topology spread or pod affinity is broken without them, they are
// left out. It reports false if a rule is still broken: the pods can then only be scheduled once pending pods are, or
// once the nodes are gone.
func (p replacement) drain(ctx context.Context, nodes []string) (*outcome, bool, error) {
	r := p.run
	o, err := simulateDrain(ctx, r.state, nodes)
	if err != nil {
		return nil, false, err
	}
	if len(o.launches) > 0 {
		free, err := simulate(ctx, r.state, &whatIf{nodes: nodes, effort: r.state.planner.Policy.Effort})
		if err != nil {
			return nil, false, err
		}
		if _, cause := admit(r.state, p.reason, free); cause == nil && len(free.unschedulable) == 0 && allScheduled(r.state, free) {
			return free, true, nil
		}
	}
	if allScheduled(r.state, o) {
		return o, true, nil
	}
	alone, err := simulate(ctx, r.state, &whatIf{nodes: nodes, launch: true, effort: r.state.planner.Policy.Effort, explain: true, withoutPending: true})
	if err != nil {
		return nil, false, err
	}
	return alone, allScheduled(r.state, alone), nil
}
