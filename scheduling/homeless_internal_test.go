package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What pods could cost that no node takes hangs on nobody else, but for those who are tied to
// them.
func TestBoundOfTiedPodsThatNoNodeTakes(t *testing.T) {
	t.Parallel()
	p := fullCluster(t)
	follower := p.Pods[0].DeepCopy()
	follower.Name, follower.Labels["app"] = "follower", "follower"
	follower.Spec.TopologySpreadConstraints = nil
	follower.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "large"}},
		}},
	}}
	p.Pods = append(p.Pods, follower)
	s := Solver{Effort: EffortFast}
	f, err := newFacts(&p, &s)
	require.NoError(t, err)
	c := f.compile(false)
	var placed []int64
	index := map[string]int{}
	for i, class := range c.planned {
		placed = append(placed, int64(len(class.pods)))
		index[class.pods[0].Labels["app"]] = i
	}
	want := make([]int64, len(placed))
	want[index["large"]], want[index["follower"]] = 10, 1
	some := c.deciding(placed, 10)
	assert.Equal(t, atStake{placed: want, joined: true}, some)
	some = c.deciding(placed, 11)
	assert.Equal(t, atStake{placed: placed, all: true}, some, "somebody else is on a machine that is bought")
}
