package provisioning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// nodesOf binds pods and lists their nodes in the queue's order.
func nodesOf(t *testing.T, p scheduling.Problem) (out []string) {
	t.Helper()
	bound, err := provisioning.Bind(p, 1)
	require.NoError(t, err)
	for _, b := range bound {
		out = append(out, b.Node)
	}
	return out
}

// What kube-scheduler's documentation says of its default profile.
func TestBind(t *testing.T) {
	small := func(name string) *corev1.Node {
		return st.Node(name, st.Allocatable(st.Cores(4), st.GiB(16), st.Count(corev1.ResourcePods, 100)))
	}
	large := func(name string) *corev1.Node {
		return st.Node(name, st.Allocatable(st.Cores(16), st.GiB(64), st.Count(corev1.ResourcePods, 100)))
	}
	one := st.Requests(st.Cores(1), st.GiB(4))
	t.Run("the node with the most room comes first", func(t *testing.T) {
		p := scheduling.Problem{Nodes: []*corev1.Node{small("a"), large("b")}, Pods: st.Pods(3, "web", one)}
		assert.Equal(t, []string{"b", "b", "b"}, nodesOf(t, p))
	})
	t.Run("pods that fit nowhere stay pending and keep nobody back", func(t *testing.T) {
		p := scheduling.Problem{Nodes: []*corev1.Node{small("a")}, Pods: append(st.Pods(1, "big", st.Requests(st.Cores(5))), st.Pods(1, "web", one)...)}
		assert.Equal(t, []string{"", "a"}, nodesOf(t, p))
	})
	t.Run("preferred node affinity outweighs room", func(t *testing.T) {
		p := scheduling.Problem{
			Nodes: []*corev1.Node{small("a"), large("b")},
			Pods:  st.Pods(1, "web", one, st.Prefer(1, st.In("disk", "ssd"))),
		}
		p.Nodes[0].Labels["disk"] = "ssd"
		assert.Equal(t, []string{"a"}, nodesOf(t, p))
	})
	t.Run("pods that keep apart do", func(t *testing.T) {
		p := scheduling.Problem{
			Nodes: []*corev1.Node{small("a"), small("b")},
			Pods:  st.Pods(3, "db", one, st.Label("app", "db"), st.Apart(corev1.LabelHostname)),
		}
		got := nodesOf(t, p)
		assert.ElementsMatch(t, []string{"a", "b", ""}, got)
		assert.Empty(t, got[2])
	})
	t.Run("pods of a workload go to different nodes, if that is all the same", func(t *testing.T) {
		p := scheduling.Problem{
			Nodes:  []*corev1.Node{small("a"), large("b")},
			Pods:   st.Pods(2, "web", one, st.Label("app", "web"), st.OwnedBy("ReplicaSet", "web")),
			Owners: scheduling.Owners{ReplicaSets: []*appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}},
		}
		p.Owners.ReplicaSets[0].Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		assert.Equal(t, []string{"b", "a"}, nodesOf(t, p))
	})
	t.Run("pods that run have preferences of their own", func(t *testing.T) {
		p := scheduling.Problem{
			Nodes:   []*corev1.Node{small("a"), large("b")},
			Pods:    st.Pods(1, "web", one, st.Label("app", "web")),
			Running: st.Pods(1, "db", one, st.OnNode("a"), st.Near(corev1.LabelHostname, st.Of("app", "web"), st.Weight(10))),
		}
		assert.Equal(t, []string{"a"}, nodesOf(t, p))
	})
	t.Run("pods without requests take some", func(t *testing.T) {
		p := scheduling.Problem{Nodes: []*corev1.Node{small("a"), large("b")}, Pods: st.Pods(2, "web")}
		assert.Equal(t, []string{"b", "b"}, nodesOf(t, p))
	})
	t.Run("pods that run count for terms though no pod that waits is like them", func(t *testing.T) {
		p := scheduling.Problem{
			Nodes:   []*corev1.Node{large("a"), small("b")},
			Pods:    st.Pods(1, "web", one, st.Near(corev1.LabelHostname, st.Of("app", "db"))),
			Running: st.Pods(1, "db", one, st.Label("app", "db"), st.OnNode("b")),
		}
		assert.Equal(t, []string{"b"}, nodesOf(t, p))
	})
	t.Run("nodes that go count for spreads", func(t *testing.T) {
		zone := func(node *corev1.Node, zone string) *corev1.Node {
			node.Labels[corev1.LabelTopologyZone] = zone
			return node
		}
		p := scheduling.Problem{
			Nodes: []*corev1.Node{zone(large("a"), "a"), zone(small("b"), "b")},
			Pods:  st.Pods(2, "web", one, st.Label("app", "web"), st.Spread(corev1.LabelTopologyZone, st.Of("app", "web"))),
		}
		p.Nodes[1].DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		assert.ElementsMatch(t, []string{"a", ""}, nodesOf(t, p))
	})
	t.Run("nominated pods are where they are nominated, and keep their room", func(t *testing.T) {
		p := scheduling.Problem{Nodes: []*corev1.Node{small("a"), large("b")}, Pods: st.Pods(2, "web", st.Requests(st.Cores(3), st.GiB(4)))}
		p.Nominated = promised(map[string]string{"web-2": "a"})
		assert.Equal(t, []string{"b", "a"}, nodesOf(t, p))
	})
}
