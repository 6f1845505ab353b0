package disruption

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// searchOf is a search in a cluster where nodes cost what they have to.
func searchOf(t *testing.T, nodes []*corev1.Node, pods ...*corev1.Pod) *search {
	t.Helper()
	c := world(t, pool(), nodes, pods...)
	s, err := newState(t.Context(), Planner{Now: noon()}, &c)
	require.NoError(t, err)
	x := &search{frame: newFrame(Planner{Now: noon()}, &c), state: s, target: &target{}, settled: map[string]bool{}, walks: true}
	x.target.bound = x.price()
	return x
}

// In a large cluster a sweep goes no further than to the first node whose pods are too many for
// all the room that there is. What small nodes behind it save is found at the end.
func TestSpareNodesBehindLargeOnes(t *testing.T) {
	x := searchOf(t, []*corev1.Node{machine(t, "wide", "m.xlarge", od), machine(t, "little", "m.small", od), machine(t, "home", "m.small", od)},
		pod("big", "wide", "1500m"), pod("one", "little", "600m"), pod("two", "home", "600m"))
	for i := range mostWhole { // machines of the past
		x.state.original[fmt.Sprint("gone-", i)] = true
	}
	require.True(t, x.many())
	y := x.scratch()
	require.NoError(t, y.sweep(t.Context(), wastes()[0]))
	require.Empty(t, y.moves, "by a sweep")
	y, err := x.steadily(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"wide"}, y.state.names())
	assert.Len(t, y.moves, 2)
}

// Nodes that are tried in vain are counted, and only so many are tried. Where there is no room
// by size alone nothing is tried.
func TestDeleteSome(t *testing.T) {
	alone := func(p *corev1.Pod) {
		app("web")(p)
		apart(byHost, "web")(p)
	}
	free := func(*corev1.Pod) {}
	for name, c := range map[string]struct {
		cpu        string
		keep       func(*corev1.Pod)
		most, vain int
		left       int
	}{
		"all in vain":    {"100m", alone, 10, 3, 3},
		"two in vain":    {"100m", alone, 2, 2, 3},
		"none":           {"100m", free, 0, 0, 3},
		"one stays":      {"100m", free, 1, 0, 1},
		"no room at all": {"600m", alone, 10, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			x := searchOf(t, []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.small", od), machine(t, "c", "m.small", od)},
				pod("web-a", "a", c.cpu, c.keep), pod("web-b", "b", c.cpu, c.keep), pod("web-c", "c", c.cpu, c.keep))
			vain, err := x.deleteSome(t.Context(), x.order(), c.most)
			require.NoError(t, err)
			assert.Equal(t, c.vain, vain)
			assert.Len(t, x.state.names(), c.left)
		})
	}
}
