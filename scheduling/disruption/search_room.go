package disruption

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// siftRoom is what is free on a node that stays.
type siftRoom struct {
	node *corev1.Node
	free []int64
	// admits says which groups of pods may go there.
	admits []bool
	// full are the pods that it would take in if there were pods enough, and what they are
	// worth.
	full  []siftCount
	worth float64
}

// know works out what a room takes in if there are pods enough.
func (s *sift) know(r *siftRoom) {
	const plenty = 1 << 30
	for c := range s.waiting {
		s.waiting[c] = plenty
	}
	r.worth = s.pick(r)
	for c, n := range s.waiting {
		if n < plenty {
			r.full = append(r.full, siftCount{class: c, n: plenty - n})
		}
	}
}

// fill puts pods that wait into a room and returns what they are worth.
func (s *sift) fill(r *siftRoom) float64 {
	for _, p := range r.full {
		if s.waiting[p.class] < p.n {
			return s.pick(r)
		}
	}
	for _, p := range r.full {
		s.waiting[p.class] -= p.n
	}
	return r.worth
}

// pick puts pods that wait into a room one by one, next always the one that most resembles
// what is left of it, and returns what they are worth.
func (s *sift) pick(r *siftRoom) (worth float64) {
	s.free = append(s.free[:0], r.free...)
	for {
		best, most := -1, 0.0
	classes:
		for c, n := range s.waiting {
			x, like := &s.classes[c], 0.0
			if n == 0 || !r.admits[x.group] {
				continue
			}
			for d, q := range x.size {
				if q > s.free[d] {
					continue classes
				}
				like += x.share[d] * float64(s.free[d]) * s.unit[d]
			}
			if like > most {
				best, most = c, like
			}
		}
		if best < 0 {
			return worth
		}
		s.waiting[best]--
		worth += s.classes[best].worth
		for d, q := range s.classes[best].size {
			s.free[d] -= q
		}
	}
}

// whereabouts is the same for pods that may go to the same nodes, other pods aside.
func whereabouts(pod *corev1.Pod) string {
	spec := &pod.Spec
	near := nodeAffinity(pod)
	if len(spec.NodeSelector) == 0 && near == nil && len(spec.Tolerations) == 0 {
		return ""
	}
	text, err := json.Marshal([]any{spec.NodeSelector, near, spec.Tolerations})
	if err != nil {
		return podName(pod)
	}
	return string(text)
}

// nodeAffinity is what a pod asks of nodes by affinity.
func nodeAffinity(pod *corev1.Pod) *corev1.NodeAffinity {
	if pod.Spec.Affinity == nil {
		return nil
	}
	return pod.Spec.Affinity.NodeAffinity
}

// open says which rooms admit a new group, of which one pod is given.
func (s *sift) open(pod *corev1.Pod) {
	for _, list := range [][]siftRoom{s.room, s.fixed} {
		for i := range list {
			r := &list[i]
			r.admits = append(r.admits, r.node != nil && selects(pod, r.node) && tolerates(pod, r.node.Spec.Taints))
		}
	}
}
