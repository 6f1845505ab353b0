package verify

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// preferredBy are the pods that the preferences of a pod are about.
func (w *world) preferredBy(pod *corev1.Pod) []*podSet {
	var sets []*podSet
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
	rules, preferences []*podSet
	// byRules and byPreferences remember whether a pod belongs to one of them.
	byRules, byPreferences map[*face]bool
}

// readMeant collects what pending pods ask for, and what running ones keep away or
// would like.
func (w *world) readMeant(running []*corev1.Pod) {
	m := meant{byRules: make(map[*face]bool), byPreferences: make(map[*face]bool)}
	rules, preferences := make(map[string]*podSet), make(map[string]*podSet)
	for _, t := range w.pods {
		for _, r := range t.ties.spread {
			rules[r.pods.text] = r.pods
		}
		for _, n := range slices.Concat(t.ties.near, t.ties.apart) {
			rules[n.pods.text] = n.pods
		}
		running = append(running, t.pod)
	}
	for _, r := range w.residents {
		for _, n := range r.ties.apart {
			rules[n.pods.text] = n.pods
		}
	}
	for _, pod := range running {
		for _, s := range w.preferredBy(pod) {
			preferences[s.text] = s
		}
	}
	m.rules, m.preferences = slices.Collect(maps.Values(rules)), slices.Collect(maps.Values(preferences))
	w.meant = m
}

// independent reports whether neither a rule between pods nor a volume has a say in
// where the pod goes.
func (w *world) independent(t *tenant) bool {
	return t.ties.none() && len(t.mounts) == 0 && !isMeant(t.face, w.meant.rules, w.meant.byRules)
}

// carefree reports whether no preference has either.
func (w *world) carefree(t *tenant) bool {
	return w.independent(t) && !t.entangled() && len(w.preferredBy(t.pod)) == 0 && !isMeant(t.face, w.meant.preferences, w.meant.byPreferences)
}

func isMeant(f *face, sets []*podSet, known map[*face]bool) bool {
	is, ok := known[f]
	if !ok {
		is = slices.ContainsFunc(sets, func(s *podSet) bool { return s.has(f) })
		known[f] = is
	}
	return is
}
