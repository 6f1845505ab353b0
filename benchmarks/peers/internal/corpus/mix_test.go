package corpus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestPlainMix(t *testing.T) {
	for _, p := range PlainMix(50, 1) {
		assert.Empty(t, p.Spec.TopologySpreadConstraints)
		assert.Nil(t, p.Spec.Affinity)
		assert.Contains(t, "abcdefg", p.Labels["group"])
	}
}

// A fifth each of five classes; what is left over is plain.
func TestTopologyMix(t *testing.T) {
	for n, want := range map[int]map[string]int{
		103: {"plain": 23, "zone-spread": 20, "host-spread": 20, "zone-affinity": 20, "host-anti-affinity": 20},
		3:   {"plain": 3},
	} {
		count := map[string]int{}
		for _, p := range TopologyMix(n, 1) {
			class := p.Name[:strings.LastIndex(p.Name, "-")]
			count[class]++
			checkClass(t, class, p)
		}
		assert.Equal(t, want, count)
	}
}

func checkClass(t *testing.T, class string, p *corev1.Pod) {
	t.Helper()
	spread, affinity := p.Spec.TopologySpreadConstraints, p.Spec.Affinity
	switch class {
	case "plain":
		assert.Empty(t, spread)
		assert.Nil(t, affinity)
	case "zone-spread", "host-spread":
		assert.Len(t, spread, 1)
		assert.Equal(t, map[string]string{"zone-spread": corev1.LabelTopologyZone, "host-spread": corev1.LabelHostname}[class], spread[0].TopologyKey)
		assert.Equal(t, int32(1), spread[0].MaxSkew)
		assert.Equal(t, corev1.DoNotSchedule, spread[0].WhenUnsatisfiable)
		assert.Contains(t, spread[0].LabelSelector.MatchLabels, "group")
	case "zone-affinity":
		term := affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		assert.Equal(t, corev1.LabelTopologyZone, term.TopologyKey)
		assert.Equal(t, p.Labels, term.LabelSelector.MatchLabels, "the pod is its own friend")
	case "host-anti-affinity":
		term := affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		assert.Equal(t, corev1.LabelHostname, term.TopologyKey)
		assert.Equal(t, p.Labels, term.LabelSelector.MatchLabels)
	default:
		t.Errorf("unknown class %q", class)
	}
}
