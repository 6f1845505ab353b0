package disruption

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// removeForced makes the steps that are not made for their saving: for nodes that are interrupted, expired, drifted
// or empty. During the first three, their nodes take in no pods.
func (r *run) removeForced(ctx context.Context) error {
	leaving := r.forcedRemovals()
	if err := r.state.closeNodes(slices.Concat(leaving, r.closedForForced)); err != nil {
		return err
	}
	r.observe(scheduling.Phase(Interrupted))
	for _, phase := range []func(context.Context) error{r.removeInterrupted, r.removeExpired, func(ctx context.Context) error { return r.removeDrifted(ctx, true) }} {
		if err := phase(ctx); err != nil || r.done {
			return err
		}
	}
	stay := slices.DeleteFunc(slices.Concat(leaving, r.closedForForced), func(name string) bool { return r.state.byName[name].removed })
	if err := r.state.reopenNodes(stay); err != nil {
		return err
	}
	if err := r.removeEmpty(ctx); err != nil || r.done {
		return err
	}
	return r.removeDrifted(ctx, false)
}

// forcedRemovals are the nodes to be removed for interruption, expiry and drift.
func (r *run) forcedRemovals() []string {
	out := []string(nil)
	for _, reason := range []Reason{Interrupted, Expired, Drifted} {
		for _, s := range r.removable(reason) {
			if reason != Drifted || s.pool != nil && r.state.poolAllowance(s.pool, Drifted) > 0 {
				out = append(out, s.name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// removable are the candidates for a reason that have taken in no pods of earlier steps. The causes of other nodes
// are noted.
func (r *run) removable(reason Reason) []*candidate {
	may, not := candidatesFor(r.state, reason)
	if reason != Underutilized {
		for name, cause := range not {
			r.note(name, cause)
		}
	}
	return slices.DeleteFunc(may, func(s *candidate) bool { return s.receivedPods || s.launched })
}

// removeInterrupted removes all interrupted nodes at once, even if pods of theirs have no other node.
func (r *run) removeInterrupted(ctx context.Context) error {
	var nodes []string
	for _, s := range r.removable(Interrupted) {
		nodes = append(nodes, s.name)
	}
	if len(nodes) == 0 {
		return nil
	}
	o, lands, err := r.drain(ctx, Interrupted, nodes)
	if err != nil {
		return err
	}
	if !lands {
		for _, name := range nodes {
			r.warn("node/"+name, "is interrupted, and some of its pods will break their topology spread, or can only be scheduled after pending pods")
		}
	}
	for i := range o.unschedulable {
		u := &o.unschedulable[i]
		if pod := r.state.pods[u.Pod]; pod != nil {
			o.evictions = append(o.evictions, Eviction{Pod: u.Pod, From: pod.Spec.NodeName})
		}
		r.warn(u.Pod, "its node is interrupted, and the pod fits on no other node: "+u.Message)
	}
	slices.SortFunc(o.evictions, compareEvictions)
	return r.tryStep(Interrupted, o)
}

// removeExpired replaces expired nodes, the oldest first.
func (r *run) removeExpired(ctx context.Context) error {
	nodes := r.removable(Expired)
	slices.SortStableFunc(nodes, func(a, b *candidate) int { return a.created().Compare(b.created()) })
	return r.replaceAll(ctx, Expired, nodes)
}

// removeDrifted replaces drifted nodes: empty ones first, then the earliest drifted. The first round leaves out empty
// nodes that may be removed as such, because they can take in pods until then.
func (r *run) removeDrifted(ctx context.Context, first bool) error {
	idle := map[string]bool{}
	if first {
		for _, s := range r.removable(Empty) {
			idle[s.name] = true
		}
	}
	nodes := slices.DeleteFunc(r.removable(Drifted), func(s *candidate) bool { return idle[s.name] })
	slices.SortStableFunc(nodes, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(min(len(a.reschedulable), 1), min(len(b.reschedulable), 1)), compareDrift(a, b))
	})
	return r.replaceAll(ctx, Drifted, nodes)
}

// compareDrift orders nodes by the time of drift, unknown times last.
func compareDrift(a, b *candidate) int {
	s, t := a.machine.DriftedAt, b.machine.DriftedAt
	if s.IsZero() != t.IsZero() {
		if s.IsZero() {
			return 1
		}
		return -1
	}
	return s.Compare(t)
}

// replaceAll replaces nodes one by one or together, whichever removes more of them, or the same for a lower price.
func (r *run) replaceAll(ctx context.Context, reason Reason, nodes []*candidate) error {
	names := lo.Map(nodes, func(s *candidate, _ int) string { return s.name })
	switch {
	case len(nodes) < 2:
		return r.oneByOne(ctx, reason, names)
	case r.state.large():
		return r.replaceTogether(ctx, reason, names)
	}
	var best *run
	for _, way := range []func(*run, context.Context, Reason, []string) error{(*run).oneByOne, (*run).replaceTogether} {
		y := r.trial()
		y.expectedRemovals = r.expectedRemovals
		if err := way(y, ctx, reason, names); err != nil {
			return err
		}
		if best == nil || cmp.Or(cmp.Compare(best.countPresent(names), y.countPresent(names)), cmp.Compare(best.state.price(), y.state.price())) > 0 {
			best = y
		}
	}
	r.causes, r.warnings, r.timedOut = best.causes, best.warnings, r.timedOut || best.timedOut
	return r.commitFrom(best)
}

// countPresent counts those of some nodes that have not been removed.
func (r *run) countPresent(names []string) int {
	return lo.CountBy(names, func(name string) bool { return !r.state.byName[name].removed })
}

// replaceTogether launches the cheapest machines for the pods of all nodes and removes the nodes in steps as small as
// possible. Nodes for which there is no step are replaced one by one.
func (r *run) replaceTogether(ctx context.Context, reason Reason, nodes []string) error {
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
			step := combined([]*Step{{Drain: o.nodes, Launches: o.launches, Evictions: o.evictions}}, r.state)
			step.Reason = reason
			if _, err := r.reachInSteps(ctx, step, names); err != nil || r.done {
				return unlessDeadline(ctx, err)
			}
			break
		}
		names = o.placeable(names)
	}
	return r.oneByOne(ctx, reason, nodes)
}

// oneByOne makes a step for each node that can be removed, and notes the cause for each other one.
func (r *run) oneByOne(ctx context.Context, reason Reason, nodes []string) error {
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
		o, lands, err := r.drain(ctx, reason, []string{s.name})
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

// removeEmpty removes nodes on which only DaemonSets' pods run, as many at once as budgets allow, the most expensive
// first.
func (r *run) removeEmpty(ctx context.Context) error {
	for {
		idle := r.removable(Empty)
		slices.SortStableFunc(idle, func(a, b *candidate) int { return cmp.Compare(b.price, a.price) })
		o := &outcome{}
		left := map[*poolState]int{}
		for _, s := range idle {
			n, ok := left[s.pool]
			if !ok {
				n = r.state.poolAllowance(s.pool, Empty)
			}
			if left[s.pool] = n - 1; n <= 0 {
				r.note(s.name, *r.state.poolBudgetCause(s.pool, Empty, r.state.poolAllowance(s.pool, Empty)+1))
				continue
			}
			o.nodes = append(o.nodes, s.name)
		}
		if len(o.nodes) == 0 || r.outOfTime(ctx) {
			return nil
		}
		slices.Sort(o.nodes)
		if err := r.tryStep(Empty, o); err != nil || r.done {
			return err
		}
	}
}

// drain simulates the removal of nodes, if possible without launches. Pending pods take part, but they may not be
// scheduled yet when the pods of the nodes are. If topology spread or pod affinity is broken without them, they are
// left out. It reports false if a rule is still broken: the pods can then only be scheduled once pending pods are, or
// once the nodes are gone.
func (r *run) drain(ctx context.Context, reason Reason, nodes []string) (*outcome, bool, error) {
	o, err := simulateDrain(ctx, r.state, nodes)
	if err != nil {
		return nil, false, err
	}
	if len(o.launches) > 0 {
		free, err := simulate(ctx, r.state, &whatIf{nodes: nodes, effort: r.state.planner.Policy.Effort})
		if err != nil {
			return nil, false, err
		}
		if _, cause := admit(r.state, reason, free); cause == nil && len(free.unschedulable) == 0 && allScheduled(r.state, free) {
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
