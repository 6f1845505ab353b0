package disruption

import (
	"context"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostLaterPlans bounds how many next plans are considered whose steps would move pods once more, or that end no
// cheaper.
const mostLaterPlans = 4

// lookAhead tries out the steps that save, and the next plan with them, before the first of them is final, so that
// this plan leaves that one no saving. With more than the least effort, the least is tried first, so that more effort
// never gives a dearer cluster.
func (r *run) lookAhead(ctx context.Context) error {
	if r.state.rules.enabled(Underutilized) {
		if err := r.findTarget(ctx); err != nil && !outOfTime(ctx) {
			return err
		}
	}
	best, err := r.trialWithEffort(ctx, scheduling.EffortFast, math.MaxInt64, nil)
	if err != nil {
		return err
	}
	if !r.state.fast() && !outOfTime(ctx) {
		more, err := r.trialWithEffort(ctx, r.state.planner.Policy.Effort, best.state.price(), best.triedSolutions)
		switch {
		case err != nil:
			return err
		case best.state.price() <= more.state.price():
			best.timedOut = best.timedOut || more.timedOut
		default:
			best = more
		}
	}
	if err := unlessDeadline(ctx, best.explain(ctx)); err != nil {
		return err
	}
	return r.commitTrial(best)
}

// trialWithEffort is a trial of the steps that save, with an effort, and, if these lead below a price, of the next
// plan's. Solutions that were tried before are left out.
func (r *run) trialWithEffort(ctx context.Context, effort scheduling.Effort, below offerings.Price, triedEnds []*Step) (*run, error) {
	y := r.trial()
	y.triedSolutions = slices.Clip(triedEnds)
	y.observer, y.state.planner.Policy.Effort = r.observer, effort
	err := y.savingPhases(ctx)
	if err == nil && y.state.price() >= below {
		return y, cancelled(ctx)
	}
	calm, next := true, (*run)(nil)
	if err == nil && !outOfTime(ctx) && r.state.rules.enabled(Underutilized) && (r.state.pinned || slices.ContainsFunc(r.steps, func(s Step) bool { return len(s.Evictions) > 0 })) {
		calm, next, err = y.mergeLaterPlans(ctx, r, false, nil)
	}
	if err == nil && !outOfTime(ctx) && (!calm || y.hasPendingPods()) {
		steps := len(y.steps)
		if err = y.appendLaterPlans(ctx); len(y.steps) != steps {
			next = nil
		}
	}
	if err == nil && !outOfTime(ctx) && !calm {
		_, _, err = y.mergeLaterPlans(ctx, r, true, next)
	}
	if err != nil && !outOfTime(ctx) {
		return nil, err
	}
	y.timedOut = y.timedOut || err != nil
	return y, cancelled(ctx)
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

// mergeLaterPlans makes the savings of next plans in this one: instead of the steps since a base, so that no pod
// moves twice, or after them with nodes that have taken in no pods. It reports whether no saving is left. With even,
// it also goes where the next plan leads in another way at the same price, because less may be left to save there. It
// begins with the next plan if that is known, and returns the one of which it could make no step, if there is one.
func (r *run) mergeLaterPlans(ctx context.Context, base *run, even bool, next *run) (calm bool, left *run, err error) {
	for tries := 0; len(r.steps) > 0 && r.findings != nil; tries++ {
		if even && tries == mostLaterPlans {
			return false, nil, nil
		}
		if next == nil {
			if next, err = r.nextPlan(ctx, true); err != nil {
				return true, nil, err
			}
		}
		if len(next.steps) == 0 {
			return true, nil, nil
		}
		ok, err := r.mergeNextPlan(ctx, base, next, even)
		if err != nil {
			return false, nil, err
		}
		if before := len(r.steps); !ok {
			if err := r.saveToward(ctx, next.findings.target); err != nil || len(r.steps) == before {
				return false, next, err
			}
		}
		r.capBound()
		next = nil
	}
	return true, nil, nil
}

// mergeNextPlan goes directly to the cluster after the next plan, as far as there are steps, and on from there. It
// keeps the result if that ends cheaper than this run or, with even, at the same price, and reports whether it did.
func (r *run) mergeNextPlan(ctx context.Context, base, next *run, even bool) (bool, error) {
	var moves []*Step
	receiving := base.state.destinations()
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
		err = t.saveToward(ctx, next.findings.target)
	}
	if err != nil {
		return false, err
	}
	if price, dear := t.state.price(), r.state.price(); price > dear || price == dear && !even {
		return false, nil
	}
	r.state, r.steps = t.state, t.steps
	return true, nil
}

// appendLaterPlans makes the steps of plans right after this one, up to the last that saves. Pods that had to move
// may move once more by that, e.g. because the machine of a reservation is only free when the node that holds it has
// been removed. Pending pods may be expected elsewhere by then, and the nodes where they were expected may be
// removed.
func (r *run) appendLaterPlans(ctx context.Context) error {
	y := r.trial()
	for range mostLaterPlans {
		next, err := y.nextPlan(ctx, false)
		if err != nil || len(next.steps) == 0 {
			return err
		}
		r.timedOut = r.timedOut || next.timedOut
		for i := range next.steps {
			step := y.repeatedStep(&next.steps[i])
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
func (r *run) repeatedStep(step *Step) *Step {
	for _, e := range step.Evictions {
		for i := range r.steps {
			by := &r.steps[i]
			if moved := slices.ContainsFunc(by.Evictions, func(x Eviction) bool { return x.Pod == e.Pod }); moved && (!by.forced() || !step.saves()) {
				return nil
			}
		}
	}
	if step.Reason == Misplaced {
		return step
	}
	out, _ := admit(r.state, step.Reason, &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions})
	return out
}

// capBound lowers the bound to the cluster's price if it is above: a machine that can no longer be launched may hold
// pods for less than the catalog's offerings do.
func (r *run) capBound() {
	if r.findings != nil {
		r.findings.bound = min(r.findings.bound, r.state.price())
	}
}

// commitTrial makes the steps of a trial. They are known to be possible, so no session is asked. If the plan ends
// early, the rejected moves are dropped, because they are those of the cluster after all steps.
func (r *run) commitTrial(y *run) error {
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

// nextPlan is the plan that would be made right after the steps or, late, its steps that save once consolidateAfter
// has passed. No launch of it has the name of a removed node.
func (r *run) nextPlan(ctx context.Context, late bool) (*run, error) {
	after := r.clusterAfter(late)
	next, err := r.state.planner.begin(ctx, &after, !r.state.pinned, r.state.sessions.Launch)
	if err != nil {
		return nil, err
	}
	next.noLookahead = true
	next.state.launchCount = maps.Clone(r.state.launchCount)
	for _, at := range r.state.nodes {
		next.state.usedNames[at.name] = true
	}
	if !late {
		err = next.search(ctx)
	} else if err = next.removeEmpty(ctx); err == nil {
		err = next.consolidate(ctx)
	}
	return next, err
}

// clusterAfter is the cluster after the steps, as the input of the next plan: evicted pods run where they were
// expected. If it is late, nodes that have taken in pods are consolidatable, if they were before.
func (r *run) clusterAfter(late bool) Cluster {
	f := r.state
	out := *f.cluster
	out.Nodes, out.Pods, out.Running, out.Machines = nil, nil, nil, nil
	out.Catalog, out.PoolCatalogs = r.state.stock.All, r.state.stock.Pools
	for _, s := range f.nodes {
		if s.removed || s.node == nil {
			continue
		}
		out.Nodes = append(out.Nodes, s.node)
		if !s.launched && s.original.Node == "" {
			continue // the input has no Machine for it
		}
		m := *s.machine
		first := *s
		first.machine = s.original
		if late && (s.launched || s.receivedPods && f.rules.consolidatable(&first)) {
			m.LastPodEvent, m.Initialized = longAgo(), longAgo()
		}
		out.Machines = append(out.Machines, m)
	}
	moved := map[string]string{}
	for i := range r.steps {
		for _, e := range r.steps[i].Evictions {
			moved[e.Pod] = e.To
		}
	}
	for _, pod := range slices.Concat(f.cluster.Pods, f.cluster.Running) {
		name := podspec.PodName(pod)
		to, moves := moved[name]
		s := f.byName[pod.Spec.NodeName]
		switch {
		case pod.Spec.NodeName == "":
			out.Pods = append(out.Pods, pod)
		case moves && to == "": // it is pending again
			waits := unbound(pod)
			waits.Status = corev1.PodStatus{Phase: corev1.PodPending}
			out.Pods = append(out.Pods, waits)
		case moves:
			runs := podspec.Successor(f.pods[name], to)
			runs.Status = corev1.PodStatus{
				Phase: corev1.PodRunning, StartTime: f.pods[name].Status.StartTime,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			}
			out.Running = append(out.Running, runs)
		case s == nil || !s.removed:
			out.Running = append(out.Running, pod)
		}
	}
	return out
}
