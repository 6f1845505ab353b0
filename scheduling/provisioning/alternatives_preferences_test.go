package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The gap to the lower bound includes the price of preferences wherever pods have any and the policy does not ignore them.
func TestHasPreferences(t *testing.T) {
	spread := func(when corev1.UnsatisfiableConstraintAction) []corev1.TopologySpreadConstraint {
		return []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: when}}
	}
	problem := func(change func(*corev1.PodSpec)) scheduling.Problem {
		pod := st.Pod("p")
		change(&pod.Spec)
		return scheduling.Problem{Pods: []*corev1.Pod{pod}}
	}
	for name, p := range map[string]scheduling.Problem{
		"ScheduleAnyway":      problem(func(s *corev1.PodSpec) { s.TopologySpreadConstraints = spread(corev1.ScheduleAnyway) }),
		"default constraints": {DefaultSpread: spread(corev1.ScheduleAnyway)},
		"preferred node affinity": problem(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: make([]corev1.PreferredSchedulingTerm, 1)}}
		}),
		"preferred affinity": problem(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: make([]corev1.WeightedPodAffinityTerm, 1)}}
		}),
		"preferred anti-affinity": problem(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: make([]corev1.WeightedPodAffinityTerm, 1)}}
		}),
	} {
		assert.True(t, provisioning.Planner{}.HasPreferences(p), name)
		assert.False(t, provisioning.Planner{Policy: scheduling.Policy{Preferences: scheduling.PreferencesIgnore}}.HasPreferences(p), name)
	}
	assert.False(t, provisioning.Planner{}.HasPreferences(problem(func(s *corev1.PodSpec) { s.TopologySpreadConstraints = spread(corev1.DoNotSchedule) })))
	assert.False(t, provisioning.Planner{}.HasPreferences(problem(func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{} })))
	assert.False(t, provisioning.Planner{}.HasPreferences(scheduling.Problem{Pods: []*corev1.Pod{nil}}))
}
