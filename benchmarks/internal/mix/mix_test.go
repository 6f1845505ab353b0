package mix

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// A fifth each: plain, over zones, over hosts, near each other, apart from each other.
func TestDiverse(t *testing.T) {
	p, err := Diverse(103, 1)
	require.NoError(t, err)
	require.NoError(t, provisioning.Validate(&p))
	count := map[string]int{}
	selectsOthers := 0
	for _, pod := range p.Pods {
		kind := kindOf(pod)
		count[kind]++
		for _, c := range pod.Spec.TopologySpreadConstraints {
			assert.Equal(t, int32(1), c.MaxSkew)
			assert.Equal(t, corev1.DoNotSchedule, c.WhenUnsatisfiable)
			if c.LabelSelector.MatchLabels["my-label"] != pod.Labels["my-label"] {
				selectsOthers++
			}
		}
	}
	assert.Equal(t, map[string]int{
		"plain": 23, "spread " + corev1.LabelTopologyZone: 20, "spread " + corev1.LabelHostname: 20,
		"near " + corev1.LabelTopologyZone: 20, "apart " + corev1.LabelHostname: 20,
	}, count)
	assert.Greater(t, selectsOthers, 20, "most constraints are about another label than the pod's own")
}

func kindOf(pod *corev1.Pod) string {
	a := pod.Spec.Affinity
	switch {
	case len(pod.Spec.TopologySpreadConstraints) > 0:
		return "spread " + pod.Spec.TopologySpreadConstraints[0].TopologyKey
	case a != nil && a.PodAffinity != nil:
		term := a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		if term.LabelSelector.MatchLabels["my-affinity"] != pod.Labels["my-affinity"] {
			return "not its own friend"
		}
		return "near " + term.TopologyKey
	case a != nil && a.PodAntiAffinity != nil:
		return "apart " + a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey
	}
	return "plain"
}
