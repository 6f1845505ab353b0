package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// took notes that a step is done: its nodes are gone, its machines there, its pods moved.
func (f *frame) took(step *Step) {
	for i := range step.Launches {
		l := &step.Launches[i]
		s := &subject{name: l.Name, machine: &Machine{}, pool: f.pools[l.NodePool], price: l.Price, priced: true, received: true}
		f.subjects = append(f.subjects, s)
		f.at[l.Name] = s
		s.cost = f.removal(nil)
		f.count(s, 1)
	}
	moved := map[*subject][]*corev1.Pod{}
	leavers := map[*subject]map[*corev1.Pod]bool{}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		pod := f.pods[e.Pod]
		if pod == nil {
			continue
		}
		if from := f.at[e.From]; from != nil {
			if leavers[from] == nil {
				leavers[from] = map[*corev1.Pod]bool{}
			}
			leavers[from][pod] = true
		}
		if to := f.at[e.To]; to != nil {
			moved[to] = append(moved[to], pod)
		}
	}
	touched := map[*subject]bool{}
	for s := range moved {
		touched[s] = true
	}
	for s := range leavers {
		touched[s] = true
	}
	for _, name := range step.Drain {
		if s := f.at[name]; s != nil && !s.gone {
			f.count(s, -1)
			s.gone = true
			delete(touched, s)
		}
	}
	// Costs are added up in the order of subjects, so that rounding does not depend on
	// the order of a map.
	for _, s := range f.subjects {
		if !touched[s] {
			continue
		}
		f.count(s, -1)
		if gone := leavers[s]; gone != nil {
			s.pods = slices.DeleteFunc(slices.Clone(s.pods), func(pod *corev1.Pod) bool { return gone[pod] })
		}
		if come := moved[s]; come != nil {
			s.pods = append(slices.Clip(s.pods), come...)
			s.received = true
		}
		f.settle(s)
		f.count(s, 1)
	}
}
