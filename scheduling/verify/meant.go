package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// rules are the sets of pods that rules and wishes of others are about.
type rules struct {
	hard, soft []*podSet
	// byHard and bySoft remember whether a pod belongs to one of them.
	byHard, bySoft map[*face]bool
}

// readRules collects what pending pods ask for, and what running ones keep away or
// would like.
func (w *world) readRules(running []*corev1.Pod) {
	r := rules{byHard: make(map[*face]bool), bySoft: make(map[*face]bool)}
	known := make(map[string]bool)
	note := func(list *[]*podSet, kind string, s *podSet) {
		if !known[kind+s.text] {
			known[kind+s.text] = true
			*list = append(*list, s)
		}
	}
	for _, t := range w.sortedPods() {
		for i := range t.ties.spread {
			note(&r.hard, "hard", t.ties.spread[i].pods)
		}
		for _, n := range slices.Concat(t.ties.near, t.ties.apart) {
			note(&r.hard, "hard", n.pods)
		}
		for _, s := range w.wishesOf(t.pod) {
			note(&r.soft, "soft", s)
		}
	}
	for _, n := range w.residents {
		for _, a := range n.apart {
			note(&r.hard, "hard", a.pods)
		}
	}
	for _, pod := range running {
		for _, s := range w.wishesOf(pod) {
			note(&r.soft, "soft", s)
		}
	}
	w.rules = r
}

// wishesOf are the pods that the wishes of a pod are about.
func (w *world) wishesOf(pod *corev1.Pod) []*podSet {
	var sets []*podSet
	for _, c := range w.spreadOf(pod) {
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			sets = append(sets, spreadSet(pod, &c))
		}
	}
	wish := func(terms []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			sets = append(sets, termSet(pod, &terms[i].PodAffinityTerm))
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		wish(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		wish(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return sets
}

// independent reports whether neither a rule between pods nor a volume has a say in
// where the pod goes.
func (w *world) independent(t *tenant) bool {
	return t.ties.none() && len(t.mounts) == 0 && !isMeant(t.face, w.rules.hard, w.rules.byHard)
}

// carefree reports whether besides no wish has.
func (w *world) carefree(t *tenant) bool {
	return w.independent(t) && !t.entangled() && len(w.wishesOf(t.pod)) == 0 && !isMeant(t.face, w.rules.soft, w.rules.bySoft)
}

func isMeant(f *face, sets []*podSet, known map[*face]bool) bool {
	meant, ok := known[f]
	if !ok {
		meant = slices.ContainsFunc(sets, func(s *podSet) bool { return s.has(f) })
		known[f] = meant
	}
	return meant
}
