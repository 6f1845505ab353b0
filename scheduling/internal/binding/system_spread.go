package binding

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// systemSpread are the constraints, all of which may be broken, that kube-scheduler has by
// itself for pods that state none (podtopologyspread, systemDefaultConstraints).
func systemSpread() [2]spread {
	return [2]spread{{skew: 3, host: true}, {skew: 5}}
}

// readSystemSpread adds them where no other default constraints are set. Which pods belong
// together, Services and owners tell; of a class, its first pod.
func (s *Scheduler) readSystemSpread() {
	p := s.c.Problem
	owners := len(p.Owners.ReplicaSets) + len(p.Owners.StatefulSets) + len(p.Owners.ReplicationControllers)
	if len(p.DefaultSpread) > 0 || len(p.Services)+owners == 0 {
		return
	}
	keys := [2]string{corev1.LabelHostname, corev1.LabelTopologyZone}
	workloads := podspec.NewDefaultSpread(p)
	s.together = podspec.NewTargets()
	for i := range s.classes {
		x, pod := &s.classes[i], s.c.Planned[i].Pods[0]
		if len(pod.Spec.TopologySpreadConstraints) > 0 {
			continue
		}
		deduced := workloads.Deduce(pod)
		if deduced == nil {
			continue
		}
		own := podspec.NamespaceOf(pod)
		target := s.together.Add(own+" "+deduced.Name, func() podspec.Target {
			return podspec.Target{Selectors: []podspec.PodSelector{{Namespaces: map[string]bool{own: true}, Labels: deduced.Labels}}}
		})
		x.lenient = true
		for k, t := range systemSpread() {
			t.axis = s.axisOf(keys[k])
			t.counter = s.togetherCounter(target, t.axis, x.number)
			x.soft = append(x.soft, t)
		}
	}
	for i := range s.classes {
		pod := s.c.Planned[i].Pods[0]
		s.classes[i].counts = slices.Clone(s.belonging(pod))
	}
}

// togetherCounter is the counter of pods that belong together, on the nodes that the pods
// of a group may use.
func (s *Scheduler) togetherCounter(target, axis, group int) int {
	for len(s.togetherOf) <= target {
		s.togetherOf = append(s.togetherOf, nil)
	}
	for _, n := range s.togetherOf[target] {
		if c := &s.counts[n]; c.axis == axis && c.filter.group == group {
			return int(n)
		}
	}
	n := len(s.counts)
	s.counts = append(s.counts, counter{target: target, axis: axis, together: true, filter: &filter{group: group, honorAffinity: true}})
	s.togetherOf[target] = append(s.togetherOf[target], int32(n))
	return n
}

// belonging is the counters that a pod counts for because it belongs together with others.
func (s *Scheduler) belonging(pod *corev1.Pod) []int32 {
	if s.together == nil {
		return nil
	}
	set := s.together.Matched(podspec.NamespaceOf(pod), pod.Labels)
	for len(s.togetherBy) <= set {
		var list []int32
		for _, target := range s.together.Sets[len(s.togetherBy)] {
			list = append(list, s.togetherOf[target]...)
		}
		s.togetherBy = append(s.togetherBy, list)
	}
	return s.togetherBy[set]
}
