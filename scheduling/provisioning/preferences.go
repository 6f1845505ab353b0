package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// HasPreferences reports whether a pod of the problem has a preference that the policy respects: ScheduleAnyway, or
// preferred affinity. Lower bounds ignore preferences, so that the gap of a plan includes their price.
func (s Planner) HasPreferences(p scheduling.Problem) bool {
	if s.Policy.Preferences == scheduling.PreferencesIgnore {
		return false
	}
	soft := func(list []corev1.TopologySpreadConstraint) bool {
		return slices.ContainsFunc(list, func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.ScheduleAnyway
		})
	}
	if soft(p.DefaultSpread) {
		return true
	}
	return slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
		if pod == nil {
			return false
		}
		a := pod.Spec.Affinity
		return soft(pod.Spec.TopologySpreadConstraints) || a != nil &&
			(a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
				a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
				a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
	})
}
