package scheduling

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// A session remembers which nodes pods fill best, and looks at those again that have changed.
func TestNearestNodesAreRemembered(t *testing.T) {
	t.Parallel()
	p := fullCluster(t)
	for _, pod := range p.Pods {
		pod.Spec.TopologySpreadConstraints, pod.Spec.Affinity = nil, nil
	}
	running := p.Running[0]
	running.Spec.Affinity, running.Spec.TopologySpreadConstraints = nil, nil
	s, err := NewSession(Solver{Effort: EffortFast}, p)
	require.NoError(t, err)
	plan := func() *nearest {
		_, err := s.Solve(t.Context())
		require.NoError(t, err)
		return s.memory.nearest
	}
	assert.Nil(t, plan(), "one plan alone would not gain by it")
	first := plan()
	require.Len(t, first.lists, 3, "of small, medium and large pods")
	fork := s.Fork()
	again := plan()
	for key, list := range again.lists {
		assert.Same(t, first.lists[key].Nearest, list.Nearest)
	}

	// One node is emptied, one filled, one leaves.
	moved := running.DeepCopy()
	moved.Spec.NodeName = "node-044"
	require.NoError(t, s.Apply(Delta{Pods: []*corev1.Pod{moved}, Removed: Removed{
		Nodes: []string{"node-000"}, Pods: []types.NamespacedName{{Namespace: "shop", Name: "web-0"}},
	}}))
	renewed := plan()
	require.Len(t, renewed.lists, 3)
	facts, err := s.facts()
	require.NoError(t, err)
	c := facts.compile(false)
	for key, list := range renewed.lists {
		anew := pack.FindNearest(c.model, list.Request(), int64(max(list.Len(), 1)), c.takesOf([]int{0}))
		assert.Equal(t, anew.Bins(leastNear), list.Bins(leastNear), key)
		assert.NotSame(t, again.lists[key].Nearest, list.Nearest)
	}
	assert.Same(t, first, again)
	assert.NotSame(t, again, fork.memory.nearest, "a fork goes its own way")
	assert.Equal(t, again.lists, fork.memory.nearest.lists)

	// Who asks for nothing any more is forgotten in the end, and so is everything when there is too much.
	for range 2 * nearIdle {
		renewed = renewed.renewed(c)
	}
	assert.Empty(t, renewed.lists)
	for i := range mostRemembered/leastNear + 2 {
		renewed.put(fmt.Sprint(i), again.lists[firstKey(again)])
	}
	assert.Less(t, len(renewed.lists), mostRemembered/leastNear)
}

// firstKey is the least key of what is remembered.
func firstKey(m *nearest) string { return sortedKeys(m.lists)[0] }
