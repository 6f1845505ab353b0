package corpus

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// A few services have most of the pods, and most have a few.
func TestServicesHaveAHeavyTail(t *testing.T) {
	count := map[string]int{}
	for _, p := range Services(10_000, 1) {
		count[p.Labels["app"]]++
		assert.Empty(t, p.Spec.TopologySpreadConstraints)
		assert.Nil(t, p.Spec.Affinity)
	}
	var sizes []int
	for _, n := range count {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	assert.Greater(t, len(sizes), 500)
	assert.LessOrEqual(t, sizes[len(sizes)/2], 5, "half of the services are small")
	largest := 0
	for _, n := range sizes[len(sizes)*9/10:] {
		largest += n
	}
	assert.Greater(t, largest, 5_000, "a tenth of the services have half of the pods")
	assert.LessOrEqual(t, sizes[len(sizes)-1], 1_000, "none has more than a tenth")
}

// The same pods with and without topology terms differ in nothing else.
func TestServicesWithTerms(t *testing.T) {
	plain, related := Services(5_000, 7), ServicesWithTerms(5_000, 7)
	count, apart, spread := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, p := range related {
		app := p.Labels["app"]
		count[app]++
		for _, c := range p.Spec.TopologySpreadConstraints {
			assert.Equal(t, corev1.LabelTopologyZone, c.TopologyKey)
			assert.Equal(t, map[string]string{"app": app}, c.LabelSelector.MatchLabels)
			spread[app] = true
		}
		if a := p.Spec.Affinity; a != nil {
			terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			assert.Equal(t, corev1.LabelHostname, terms[0].TopologyKey)
			apart[app] = true
		}
		p.Spec.TopologySpreadConstraints, p.Spec.Affinity = nil, nil
		assert.Equal(t, plain[i], p)
	}
	assert.InDelta(t, len(count)/3, len(spread), float64(len(count))/20)
	assert.InDelta(t, len(count)/6, len(apart), float64(len(count))/20)
	for app := range apart {
		assert.LessOrEqual(t, count[app], 30)
	}
}
