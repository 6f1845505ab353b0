package disruption

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// afterwards is the cluster once the steps are done, as the next plan would find it: pods
// that have moved run where they were expected. If it is late, nodes that have taken some in
// have been left alone for as long as they have to be, if they had been before.
func (r *run) afterwards(late bool) Cluster {
	f := r.frame
	out := *f.cluster
	out.Nodes, out.Pods, out.Running, out.Machines = nil, nil, nil, nil
	out.Catalog, out.PoolCatalogs = r.state.stock.all, r.state.stock.pools
	for _, s := range f.subjects {
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
		to, moves := moved[podName(pod)]
		s := f.at[pod.Spec.NodeName]
		switch {
		case pod.Spec.NodeName == "":
			out.Pods = append(out.Pods, pod)
		case moves && to == "":
			out.Pods = append(out.Pods, again(pod))
		case moves:
			out.Running = append(out.Running, ready(f.pods[podName(pod)], to))
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
