package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// selectors are sets of pods, by their text, with the answers that have been given for identities.
type selectors struct {
	sets  map[string]*PodSelector
	known map[*Identity]bool
}

// selectedPods are the pods that topology terms and preferences of other pods select.
type selectedPods struct{ rules, preferences selectors }

// readSelectedPods collects the selectors of the topology terms of pending pods, of the anti-affinity of running pods, and
// of the preferences of both.
func readSelectedPods(w *State) *selectedPods {
	m := &selectedPods{}
	for _, s := range []*selectors{&m.rules, &m.preferences} {
		s.sets, s.known = make(map[string]*PodSelector), make(map[*Identity]bool)
	}
	prefer := func(pod *corev1.Pod) {
		for _, s := range w.Reader.preferredBy(pod) {
			m.preferences.sets[s.Text] = s
		}
	}
	for _, t := range w.Pods {
		for _, r := range t.Terms.Spread {
			m.rules.sets[r.Pods.Text] = r.Pods
		}
		for _, n := range slices.Concat(t.Terms.Affinity, t.Terms.AntiAffinity) {
			m.rules.sets[n.Pods.Text] = n.Pods
		}
		prefer(t.Object)
	}
	for _, r := range w.Residents {
		for _, n := range r.Terms.AntiAffinity {
			m.rules.sets[n.Pods.Text] = n.Pods
		}
	}
	for _, pod := range w.Running {
		prefer(pod)
	}
	return m
}

func (s *selectors) include(f *Identity) bool {
	is, ok := s.known[f]
	if !ok {
		for _, set := range s.sets {
			is = is || set.Has(f)
		}
		s.known[f] = is
	}
	return is
}
