package schedulingtest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tidy takes away what no API server lets pass: two constraints on one key, minDomains
// of a soft constraint, and label keys that are in the selector already, or that lack
// a selector.
func tidy(pod *corev1.Pod) {
	seen := map[string]bool{}
	spec := &pod.Spec
	spec.TopologySpreadConstraints = slices.DeleteFunc(spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		again := seen[c.TopologyKey]
		seen[c.TopologyKey] = true
		return again
	})
	for i := range spec.TopologySpreadConstraints {
		c := &spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			c.MinDomains = nil
		}
		c.MatchLabelKeys = without(c.MatchLabelKeys, c.LabelSelector)
	}
	if spec.Affinity == nil {
		return
	}
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			tidyTerm(&required[i])
		}
		for i := range preferred {
			tidyTerm(&preferred[i].PodAffinityTerm)
		}
	}
	if a := spec.Affinity.PodAffinity; a != nil {
		terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := spec.Affinity.PodAntiAffinity; a != nil {
		terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// tidyTerm leaves every namespace to terms only that do not select every pod there: see
// houseDaemons.
func tidyTerm(t *corev1.PodAffinityTerm) {
	if s := t.LabelSelector; t.NamespaceSelector != nil && s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		t.NamespaceSelector = nil
	}
	t.MatchLabelKeys = without(t.MatchLabelKeys, t.LabelSelector)
	t.MismatchLabelKeys = without(t.MismatchLabelKeys, t.LabelSelector)
}

// without are the keys that the selector does not name; none if there is no selector.
func without(keys []string, s *metav1.LabelSelector) []string {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(keys, func(key string) bool {
		_, named := s.MatchLabels[key]
		return named || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
	})
}
