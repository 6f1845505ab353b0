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

// mostPlans is how many plans one may go on with whose steps move pods once more, or that end no
// cheaper.
const mostLaterPlans = 4

// lookAhead tries the steps that save something out before the first of them is certain, and the
// next plan with them, so that this plan leaves that one nothing to save.
//
// With more than the least effort, the least is tried out first, so that more effort is never dearer.
func (r *run) lookAhead(ctx context.Context) error {
	if r.state.enabled(Underutilized) {
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

// tryOut is a trial of the steps that save something, with an effort, and, if these lead below a price, of the next plan's.
// Ends that were tried already are left out.
func (r *run) trialWithEffort(ctx context.Context, effort scheduling.Effort, below offerings.Price, triedEnds []*Step) (*run, error) {
	y := r.trial()
	y.triedSolutions = slices.Clip(triedEnds)
	y.observer, y.state.planner.Policy.Effort = r.observer, effort
	err := y.savingPhases(ctx)
	if err == nil && y.state.price() >= below {
		return y, cancelled(ctx)
	}
	calm, next := true, (*run)(nil)
	if err == nil && !outOfTime(ctx) && r.state.enabled(Underutilized) && (r.state.pinned || slices.ContainsFunc(r.steps, func(s Step) bool { return len(s.Evictions) > 0 })) {
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

// trial is a run that stands where r does and makes its steps in a copy of the cluster.
func (r *run) trial() *run {
	y := &run{
		state: r.state.fork(), steps: slices.Clone(r.steps),
		causes: maps.Clone(r.causes), warnings: slices.Clone(r.warnings), before: r.before, target: r.target,
	}
	y.state.planner.MaxSteps = 0
	return y
}

// settle does what the next plan would do to save something: at once instead of the steps since a
// base, so that no pod moves twice, or afterwards with nodes that have taken in no pods. It reports
// whether nothing is left to save. With even, it also goes where the next plan leads by another way
// at the same price, from where there may be less to save. It begins with the next plan if that is known, and ends with
// the one of which nothing could be done, if there is one.
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

// merge goes at once to where the next plan would lead, as far as there is a way in steps, and on
// from there, if that ends cheaper than the steps do, or, with even, at the same price.
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
	t, left, err := base.trialInSteps(ctx, combined(moves, next.state.requestsWith))
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

// further goes on with what the next plans would do right afterwards, up to the last of them
// that saves something. Pods that had to move may move once more by that: a machine of a
// reservation, say, is only to be had again when the one that holds it has gone. Pods that
// wait may be expected elsewhere than at first, and nodes go that they were expected on.
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

// again is a step of the next plan as one of this, nil where that must not be: what was moved
// to save something stays.
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
	out, _ := r.state.admit(step.Reason, &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions})
	return out
}

// capBound bounds what the cluster has to cost by what it does: a machine that cannot be bought any
// more may hold pods for less than the market does.
func (r *run) capBound() {
	if r.findings != nil {
		r.findings.bound = min(r.findings.bound, r.state.price())
	}
}

// perform makes the steps of a trial, which are known to be possible: no session is asked any more.
// If they end early, moves that were not taken are left out, as they are those of the cluster after
// all steps.
func (r *run) commitTrial(y *run) error {
	r.causes, r.warnings, r.findings, r.timedOut = y.causes, y.warnings, y.findings, y.timedOut
	r.state.deferChanges()
	observer := r.observer
	r.observer = nil // it knows of these steps
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

// next is the plan that would be made right after the steps or, late, its steps that save something
// once consolidateAfter has passed. No machine of it has the name of one that is gone.
func (r *run) nextPlan(ctx context.Context, late bool) (*run, error) {
	after := r.clusterAfter(late)
	next, err := r.state.planner.begin(ctx, &after, !r.state.pinned, r.state.launchSession)
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

// clusterAfter is the cluster once the steps are done, as the next plan would find it: pods
// that have moved run where they were expected. If it is late, nodes that have taken some in
// have been left alone for as long as they have to be, if they had been before.
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
			continue // of whose machine nothing is told, nothing will be then
		}
		m := *s.machine
		first := *s
		first.machine = s.original
		if late && (s.launched || s.receivedPods && f.consolidatable(&first)) {
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
		case moves && to == "": // it waits for a node once more
			waits := unbound(pod)
			waits.Status = corev1.PodStatus{Phase: corev1.PodPending}
			out.Pods = append(out.Pods, waits)
		case moves:
			runs := podspec.Anew(f.pods[name], to)
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
