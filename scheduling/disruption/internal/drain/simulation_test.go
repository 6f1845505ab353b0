package drain

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Asking leaves no trace, and the domains of a node that is drained count for spread even when its last pod has left.
func TestPossible(t *testing.T) {
	nodes := map[string]*corev1.Node{}
	p := scheduling.Problem{}
	for name, zone := range map[string]string{"a": "x", "b": "x", "c": "y", "d": "z"} {
		nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
		p.Running = append(p.Running, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{NodeName: name, TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}}},
		})
	}
	pods := map[string]*corev1.Pod{}
	for _, pod := range p.Running {
		pods["shop/"+pod.Name] = pod
	}
	s := New(Cluster{
		Topology: NewTopology(&p), Pods: pods, Home: func(pod *corev1.Pod) string { return pod.Spec.NodeName },
		Node: func(name string) *corev1.Node { return nodes[name] }, Nodes: maps.Values(nodes),
		Offered: func(string, string) bool { return true },
	}, []string{"a", "d"}, nil, []Move{{Pod: "shop/d", From: "d", To: "b"}, {Pod: "shop/a", From: "a", To: "c"}, {Pod: "shop/e", From: "a", To: "c"}})
	counts := func() (pods, nodes [3]int) {
		c, d := slices.Collect(maps.Values(s.counts)), slices.Collect(maps.Values(s.domains))
		require.Len(t, c, 1)
		require.Len(t, d, 1)
		for i, zone := range []string{"x", "y", "z"} {
			pods[i], nodes[i] = c[0].pods[zone], d[0].nodes[zone]
		}
		return pods, nodes
	}
	stands := func(wantPods, wantNodes [3]int) {
		t.Helper()
		pods, nodes := counts()
		assert.Equal(t, wantPods, pods)
		assert.Equal(t, wantNodes, nodes)
	}
	require.Len(t, s.Pods, 2)
	both := []*Pod{s.Pods["shop/d"], s.Pods["shop/a"]}
	stands([3]int{2, 1, 1}, [3]int{2, 1, 1})
	assert.True(t, s.Possible(both, true))
	stands([3]int{2, 1, 1}, [3]int{2, 1, 1})
	assert.False(t, s.Possible(both[:1], false), "x would hold 3, and z none")
	stands([3]int{2, 1, 1}, [3]int{2, 1, 1})
	mark := s.Mark()
	assert.True(t, s.Possible(both, false))
	stands([3]int{2, 2, 0}, [3]int{2, 1, 1})
	s.Undo(mark)
	stands([3]int{2, 1, 1}, [3]int{2, 1, 1})
}
