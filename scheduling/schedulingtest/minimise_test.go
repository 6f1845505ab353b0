package schedulingtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestMinimise(t *testing.T) {
	p := Random(11, Size{})
	// A problem fails if it has a pod that requests a certain amount of memory, and a type of at least two cores.
	asks := func(q scheduling.Problem) bool {
		for _, pod := range q.Pods {
			if pod.Name == p.Pods[0].Name && q.Catalog != nil && q.Catalog.Len() > 0 {
				return true
			}
		}
		return false
	}
	before := YAML(p)
	q := Minimise(p, asks)
	assert.Equal(t, before, YAML(p), "the problem itself stays")
	assert.Len(t, q.Pods, 1)
	assert.Equal(t, 1, q.Catalog.Len())
	assert.Empty(t, q.NodePools)
	assert.Empty(t, q.Nodes)
	assert.Empty(t, q.Running)
	assert.Empty(t, q.DaemonSets)
	for typ := range q.Catalog.All() {
		assert.Empty(t, typ.Offerings)
	}
	assert.Nil(t, q.Pods[0].Spec.Affinity)
	assert.True(t, asks(q))
}

func TestMinimiseTies(t *testing.T) {
	var p scheduling.Problem
	hard := func(q scheduling.Problem) bool {
		for _, pod := range q.Pods {
			for _, c := range pod.Spec.TopologySpreadConstraints {
				if c.TopologyKey == corev1.LabelTopologyZone && c.WhenUnsatisfiable == corev1.DoNotSchedule {
					return len(q.Claims) > 0
				}
			}
		}
		return false
	}
	for seed := uint64(0); !hard(p); seed++ {
		p = withTerms(seed)
	}
	q := Minimise(p, hard)
	require.Len(t, q.Pods, 1)
	assert.Len(t, q.Claims, 1)
	assert.Empty(t, q.Volumes)
	assert.Empty(t, q.StorageClasses)
	assert.Empty(t, q.Namespaces)
	assert.Empty(t, q.DefaultSpread)
	assert.Empty(t, q.Pods[0].Labels)
	assert.Empty(t, q.Pods[0].Spec.Volumes)
	assert.Nil(t, q.Pods[0].Spec.Affinity)
	assert.Len(t, q.Pods[0].Spec.TopologySpreadConstraints, 1)
}
