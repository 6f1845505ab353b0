package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// preferredBy are the pods that the preferences of a pod are about.
func (w *State) preferredBy(pod *corev1.Pod) []*PodSelector {
	var sets []*PodSelector
	for _, c := range w.spreadOf(pod) {
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			sets = append(sets, spreadSet(pod, &c))
		}
	}
	var terms []corev1.WeightedPodAffinityTerm
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		terms = append(terms, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		terms = append(terms, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	for i := range terms {
		sets = append(sets, termSet(pod, &terms[i].PodAffinityTerm))
	}
	return sets
}

// selectors are sets of pods, by their text, with whether a pod that was asked about belongs to one.
type selectors struct {
	sets  map[string]*PodSelector
	known map[*Identity]bool
}

// meant are those that rules and preferences of others are about.
type meant struct{ rules, preferences selectors }

// readMeant collects what pending pods ask for, and what running ones keep away or
// would like.
func (w *State) readMeant() {
	m := &w.meant
	for _, s := range []*selectors{&m.rules, &m.preferences} {
		s.sets, s.known = make(map[string]*PodSelector), make(map[*Identity]bool)
	}
	prefer := func(pod *corev1.Pod) {
		for _, s := range w.preferredBy(pod) {
			m.preferences.sets[s.Text] = s
		}
	}
	for _, t := range w.Pods {
		for _, r := range t.Ties.Spread {
			m.rules.sets[r.Pods.Text] = r.Pods
		}
		for _, n := range slices.Concat(t.Ties.Near, t.Ties.Apart) {
			m.rules.sets[n.Pods.Text] = n.Pods
		}
		prefer(t.Object)
	}
	for _, r := range w.Residents {
		for _, n := range r.Ties.Apart {
			m.rules.sets[n.Pods.Text] = n.Pods
		}
	}
	for _, pod := range w.Running {
		prefer(pod)
	}
}

// Independent reports whether neither a rule between pods nor a volume has a say in
// where the pod goes.
func (w *State) Independent(t *Pod) bool {
	return t.Ties.None() && len(t.Mounts) == 0 && !w.meant.rules.about(t.Face)
}

// Carefree reports whether no preference has either.
func (w *State) Carefree(t *Pod) bool {
	return w.Independent(t) && len(w.preferredBy(t.Object)) == 0 && !w.meant.preferences.about(t.Face)
}

func (s *selectors) about(f *Identity) bool {
	is, ok := s.known[f]
	if !ok {
		for _, set := range s.sets {
			is = is || set.Has(f)
		}
		s.known[f] = is
	}
	return is
}
