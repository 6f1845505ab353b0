package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// systemSpread are the constraints, all of which may be broken, that kube-scheduler has by
// itself for pods that state none (podtopologyspread, systemDefaultConstraints).
func systemSpread() [2]Spread {
	return [2]Spread{{MaxSkew: 3, Host: true}, {MaxSkew: 5}}
}

// readSystemSpread adds them where no other default constraints are set. Which pods belong
// together, Services and owners tell; of a class, its first pod.
func (r *reader) readSystemSpread() {
	p := r.m.In.Facts.Problem
	owners := len(p.Owners.ReplicaSets) + len(p.Owners.StatefulSets) + len(p.Owners.ReplicationControllers)
	if len(p.DefaultSpread) > 0 || len(p.Services)+owners == 0 {
		return
	}
	keys := [2]string{corev1.LabelHostname, corev1.LabelTopologyZone}
	workloads := podspec.NewDefaultSpread(p)
	r.together = podspec.NewTargets()
	for i := range r.m.Classes {
		x, pod := &r.m.Classes[i], r.m.In.Planned[i].Pods[0]
		if len(pod.Spec.TopologySpreadConstraints) > 0 {
			continue
		}
		deduced := workloads.Deduce(pod)
		if deduced == nil {
			continue
		}
		own := podspec.NamespaceOf(pod)
		target := r.together.Add(own+" "+deduced.Name, func() podspec.Target {
			return podspec.Target{Selectors: []podspec.PodSelector{{Namespaces: map[string]bool{own: true}, Labels: deduced.Labels}}}
		})
		x.Lenient = true
		for k, t := range systemSpread() {
			t.Axis = r.axisOf(keys[k])
			t.Counter = r.togetherCounter(target, t.Axis, x.Number)
			x.Soft = append(x.Soft, t)
		}
	}
	for i := range r.m.Classes {
		pod := r.m.In.Planned[i].Pods[0]
		r.m.Classes[i].counts = slices.Clone(r.belonging(pod))
	}
}

// togetherCounter is the counter of pods that belong together, on the nodes that the pods
// of a group may use.
func (r *reader) togetherCounter(target, axis, group int) int {
	for len(r.togetherOf) <= target {
		r.togetherOf = append(r.togetherOf, nil)
	}
	for _, n := range r.togetherOf[target] {
		if c := &r.m.counts[n]; c.axis == axis && c.filter.group == group {
			return int(n)
		}
	}
	n := len(r.m.counts)
	r.m.counts = append(r.m.counts, counter{target: target, axis: axis, together: true, filter: &filter{group: group, honorAffinity: true}})
	r.togetherOf[target] = append(r.togetherOf[target], int32(n))
	return n
}

// belonging is the counters that a pod counts for because it belongs together with others.
func (r *reader) belonging(pod *corev1.Pod) []int32 {
	if r.together == nil {
		return nil
	}
	set := r.together.Matched(podspec.NamespaceOf(pod), pod.Labels)
	for len(r.togetherBy) <= set {
		var list []int32
		for _, target := range r.together.Sets[len(r.togetherBy)] {
			list = append(list, r.togetherOf[target]...)
		}
		r.togetherBy = append(r.togetherBy, list)
	}
	return r.togetherBy[set]
}
