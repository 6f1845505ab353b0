package disruption

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostPlans is how many plans one may go on with.
const mostPlans = 4

// further goes on with what the next plans would do right afterwards, up to the last of them
// that saves something. Pods that had to move may move once more by that: a machine of a
// reservation, say, is only to be had again when the one that holds it has gone. Pods that
// wait may be expected elsewhere than at first, and nodes go that they were expected on.
func (r *run) further(ctx context.Context) error {
	if r.done || len(r.steps) == 0 || len(r.state.nodes) >= manyNodes {
		return nil
	}
	y := &run{constraints: r.constraints.clone(), state: r.state.fork(), steps: slices.Clone(r.steps)}
	y.constraints.planner.MaxSteps = 0
	for range mostPlans {
		next, err := y.following(ctx)
		if err != nil || len(next.steps) == 0 {
			return err
		}
		r.late = r.late || next.late
		for i := range next.steps {
			step := y.again(&next.steps[i])
			if step == nil {
				return nil
			}
			if err := y.state.take(step); err != nil {
				return err
			}
			y.emit(step)
		}
		if !slices.ContainsFunc(next.steps, func(s Step) bool { return s.saves() }) {
			continue
		}
		for len(r.steps) < len(y.steps) {
			if !r.emit(&y.steps[len(r.steps)]) {
				return nil
			}
		}
		r.cap()
	}
	return nil
}

// following is the plan that would be made right after the steps.
func (r *run) following(ctx context.Context) (*run, error) {
	after := r.clusterAfter(false)
	next, err := r.constraints.planner.begin(ctx, &after)
	if err != nil {
		return nil, err
	}
	next.last = true
	r.follow(next)
	err = next.search(ctx)
	return next, err
}

// follow lets no machine of the next plan have the name of one that is gone.
func (r *run) follow(next *run) {
	next.state.original, next.state.bought = maps.Clone(next.state.original), maps.Clone(r.state.bought)
	for _, at := range r.constraints.nodes {
		next.state.original[at.name] = true
	}
}

// saves reports whether a step is there to save something.
func (s *Step) saves() bool { return s.Reason == Empty || s.Reason == Underutilized }

// again is a step of the next plan as one of this, nil where that must not be: what was moved
// to save something stays.
func (r *run) again(step *Step) *Step {
	for _, e := range step.Evictions {
		if by := r.movedBy(e.Pod); by != nil && (!by.forced() || !step.saves()) {
			return nil
		}
	}
	if step.Reason == Misplaced {
		return step
	}
	out, cause := r.constraints.admit(step.Reason, &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions})
	if cause != nil {
		return nil
	}
	return out
}

// movedBy is the last step that moves a pod, nil if none does.
func (r *run) movedBy(pod string) *Step {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if slices.ContainsFunc(r.steps[i].Evictions, func(e Eviction) bool { return e.Pod == pod }) {
			return &r.steps[i]
		}
	}
	return nil
}

// clusterAfter is the cluster once the steps are done, as the next plan would find it: pods
// that have moved run where they were expected. If it is late, nodes that have taken some in
// have been left alone for as long as they have to be, if they had been before.
func (r *run) clusterAfter(late bool) Cluster {
	f := r.constraints
	out := *f.cluster
	out.Nodes, out.Pods, out.Running, out.Machines = nil, nil, nil, nil
	out.Catalog, out.PoolCatalogs = r.state.stock.all, r.state.stock.pools
	for _, s := range f.nodes {
		if s.gone || s.node == nil {
			continue
		}
		out.Nodes = append(out.Nodes, s.node)
		if !s.fresh && s.known.Node == "" {
			continue // of whose machine nothing is told, nothing will be then
		}
		m := *s.machine
		first := *s
		first.machine = s.known
		if late && (s.fresh || s.received && f.leftAlone(&first)) {
			m.LastPodEvent, m.Initialized = longAgo(), longAgo()
		}
		out.Machines = append(out.Machines, m)
	}
	moved := r.moved()
	for _, pod := range slices.Concat(f.cluster.Pods, f.cluster.Running) {
		to, moves := moved[podspec.PodName(pod)]
		s := f.at[pod.Spec.NodeName]
		switch {
		case pod.Spec.NodeName == "":
			out.Pods = append(out.Pods, pod)
		case moves && to == "":
			out.Pods = append(out.Pods, again(pod))
		case moves:
			out.Running = append(out.Running, ready(f.pods[podspec.PodName(pod)], to))
		case s == nil || !s.gone:
			out.Running = append(out.Running, pod)
		}
	}
	return out
}

// moved says of the pods that steps evict where they are expected, "" where that is nowhere.
func (r *run) moved() map[string]string {
	out := map[string]string{}
	for i := range r.steps {
		for _, e := range r.steps[i].Evictions {
			out[e.Pod] = e.To
		}
	}
	return out
}

// ready is a copy of a pod that runs on a node.
func ready(pod *corev1.Pod, node string) *corev1.Pod {
	out := *pod
	out.Spec.NodeName, out.DeletionTimestamp = node, nil
	out.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: pod.Status.StartTime,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	return &out
}

// again is a copy of a pod that waits for a node once more.
func again(pod *corev1.Pod) *corev1.Pod {
	out := unbound(pod)
	out.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return out
}

// longAgo is long enough before every decision.
func longAgo() time.Time { return time.Unix(0, 0) }
