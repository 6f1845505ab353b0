package snapshot

import (
	"maps"
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

// meant are the sets of pods that rules and preferences of others are about.
type meant struct {
	rules, preferences []*PodSelector
	// byRules and byPreferences remember whether a pod belongs to one of them.
	byRules, byPreferences map[*Identity]bool
}

// readMeant collects what pending pods ask for, and what running ones keep away or
// would like.
func (w *State) readMeant(running []*corev1.Pod) {
	m := meant{byRules: make(map[*Identity]bool), byPreferences: make(map[*Identity]bool)}
	rules, preferences := make(map[string]*PodSelector), make(map[string]*PodSelector)
	for _, t := range w.Pods {
		for _, r := range t.Ties.Spread {
			rules[r.Pods.Text] = r.Pods
		}
		for _, n := range slices.Concat(t.Ties.Near, t.Ties.Apart) {
			rules[n.Pods.Text] = n.Pods
		}
		running = append(running, t.Object)
	}
	for _, r := range w.Residents {
		for _, n := range r.Ties.Apart {
			rules[n.Pods.Text] = n.Pods
		}
	}
	for _, pod := range running {
		for _, s := range w.preferredBy(pod) {
			preferences[s.Text] = s
		}
	}
	m.rules, m.preferences = slices.Collect(maps.Values(rules)), slices.Collect(maps.Values(preferences))
	w.meant = m
}

// Independent reports whether neither a rule between pods nor a volume has a say in
// where the pod goes.
func (w *State) Independent(t *Pod) bool {
	return t.Ties.None() && len(t.Mounts) == 0 && !isMeant(t.Face, w.meant.rules, w.meant.byRules)
}

// Carefree reports whether no preference has either.
func (w *State) Carefree(t *Pod) bool {
	return w.Independent(t) && !t.entangled() && len(w.preferredBy(t.Object)) == 0 && !isMeant(t.Face, w.meant.preferences, w.meant.byPreferences)
}

func isMeant(f *Identity, sets []*PodSelector, known map[*Identity]bool) bool {
	is, ok := known[f]
	if !ok {
		is = slices.ContainsFunc(sets, func(s *PodSelector) bool { return s.Has(f) })
		known[f] = is
	}
	return is
}
