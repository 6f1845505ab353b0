package scheduling

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// A session remembers what it has worked out of a land while the same is on sale and nodes stay
// the same, and who runs there while the same pods do. Plans do not show it.
func TestLandIsRemembered(t *testing.T) {
	t.Parallel()
	p, solver := fullCluster(t), Solver{Effort: EffortFast}
	s, err := NewSession(solver, p)
	require.NoError(t, err)
	plan := func(s *Session) *atlas {
		t.Helper()
		warm, err := s.Solve(t.Context())
		require.NoError(t, err)
		cold, err := solver.Solve(t.Context(), s.Problem())
		require.NoError(t, err)
		a, err := json.Marshal(warm)
		require.NoError(t, err)
		b, err := json.Marshal(cold)
		require.NoError(t, err)
		require.Equal(t, string(b), string(a))
		return s.memory.atlas
	}
	first := plan(s)
	require.NotEmpty(t, first.partitions)
	require.NotEmpty(t, first.markets)
	axes, partitions, markets, heads := len(first.axes), maps.Clone(first.partitions), maps.Clone(first.markets), first.census
	require.NotEmpty(t, heads.counted)

	// The same pods by other names.
	d := Delta{}
	for _, pod := range p.Pods {
		again := pod.DeepCopy()
		again.Name += "-again"
		d.Pods = append(d.Pods, again)
		d.Removed.Pods = append(d.Removed.Pods, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	}
	require.NoError(t, s.Apply(d))
	assert.Same(t, first, plan(s))
	assert.Len(t, first.axes, axes, "nothing is drawn twice")
	assert.Equal(t, partitions, first.partitions)
	assert.Equal(t, markets, first.markets)
	assert.Same(t, heads, first.census)

	// What a fork learns the session does not, and the other way around.
	fork := s.Fork()
	odd := d.Pods[0].DeepCopy()
	odd.Name = "odd"
	odd.Spec.TopologySpreadConstraints[0].TopologyKey = corev1.LabelArchStable
	require.NoError(t, fork.Apply(Delta{Pods: []*corev1.Pod{odd}}))
	assert.Greater(t, len(plan(fork).partitions), len(partitions))
	assert.Equal(t, partitions, plan(s).partitions)

	// One pod more runs.
	running := p.Running[0].DeepCopy()
	running.Name, running.Spec.NodeName = "db-11", "node-044"
	require.NoError(t, s.Apply(Delta{Pods: []*corev1.Pod{running}}))
	assert.Same(t, first, plan(s))
	assert.NotSame(t, heads, first.census, "who runs has changed")

	// One node less runs, and a pool may buy less.
	require.NoError(t, s.Apply(Delta{Removed: Removed{Nodes: []string{"node-000"}}}))
	second := plan(s)
	assert.NotSame(t, first, second)
	limited := *p.NodePools[0]
	limited.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}
	require.NoError(t, s.Apply(Delta{NodePools: []*NodePool{&limited}}))
	assert.NotSame(t, second, plan(s))
}

// An atlas does not grow without end.
func TestFullAtlasIsForgotten(t *testing.T) {
	t.Parallel()
	a := newAtlas()
	assert.False(t, a.full())
	for i := range mostAxes + 1 {
		x := a.axis(fmt.Sprint(i), func() axis { return axis{at: []int32{0, 1}, values: []string{"a", "b"}} })
		assert.Zero(t, x.id, "an axis that says the same is the same")
	}
	assert.True(t, a.full())
	a = newAtlas()
	a.markets["m"] = newMarket(nil)
	for i := range mostSums + 1 {
		a.markets["m"].alone[fmt.Sprint(i)] = 0
	}
	assert.True(t, a.full())
	assert.False(t, a.fork().full(), "forks begin with fewer sums")
	for i := range 2 * mostRelisted {
		a.relist(nil, []int32{int32(i)}, func() *relisted { return &relisted{columns: []int32{int32(i)}} })
	}
	assert.Len(t, a.relisted, mostRelisted)
}
