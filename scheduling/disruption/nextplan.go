package disruption

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// nextPlan is the plan that would be made right after the steps or, late, its steps that save once consolidateAfter
// has passed. No launch of it has the name of a removed node.
func nextPlan(ctx context.Context, r *run, late bool) (*run, error) {
	after := clusterAfter(r, late)
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
	} else {
		err = next.disruptBy(ctx, emptiness{}, consolidation{})
	}
	return next, err
}

// clusterAfter is the cluster after the steps, as the input of the next plan: evicted pods run where they were
// expected. If it is late, nodes that have taken in pods are consolidatable, if they were before.
func clusterAfter(r *run, late bool) Cluster {
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
			runs := scheduling.Successor(f.pods[name], to)
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
