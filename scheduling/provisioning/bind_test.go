package provisioning_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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

// The default profile, as kube-scheduler's documentation states it.
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

// RequestedToCapacityRatio binds a pod where kube-scheduler's formula
// (noderesources.buildRequestedToCapacityRatioScorerFunction) is highest. The pods request
// devices alone, so that no other plugin has a say, and count for 100m of CPU.
func TestRequestedToCapacityRatio(t *testing.T) {
	shapes := [][]scheduling.UtilizationShapePoint{
		{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}},
		{{Utilization: 20, Score: 9}, {Utilization: 45, Score: 2}, {Utilization: 80, Score: 7}},
		{{Utilization: 50, Score: 3}},
	}
	linear := func(shape []scheduling.UtilizationShapePoint, p int64) int64 {
		for i, b := range shape {
			if x, y := int64(b.Utilization), int64(b.Score)*10; p <= x {
				if i == 0 {
					return y
				}
				x0, y0 := int64(shape[i-1].Utilization), int64(shape[i-1].Score)*10
				return y0 + (y-y0)*(p-x0)/(x-x0)
			}
		}
		return int64(shape[len(shape)-1].Score) * 10
	}
	const device = "example.com/device"
	rng := rand.New(rand.NewPCG(26, 1)) //nolint:gosec // a test
	drawn := 0
	for round := range 60 {
		shape, weight := shapes[round%3], int64(1+rng.IntN(4))
		p := scheduling.Problem{Pods: st.Pods(1, "x", st.Requests(st.Count(device, 1)))}
		p.Scheduler.Scoring = scheduling.ScoringStrategy{Type: scheduling.RequestedToCapacityRatio, Shape: shape, Resources: []scheduling.ResourceWeight{
			{Name: device, Weight: weight}, {Name: corev1.ResourceCPU}, {Name: "example.com/other", Weight: 9},
		}}
		best, want := int64(-1), map[string]bool{}
		for i := range 5 {
			devices, cores := 2+rng.IntN(7), 2+rng.IntN(3)
			used, milli := rng.IntN(devices), int64(100*rng.IntN(10*cores-1))
			name := fmt.Sprint("node-", i)
			p.Nodes = append(p.Nodes, st.Node(name, st.Allocatable(st.Cores(int64(cores)), st.GiB(8), st.Count(device, int64(devices)), st.Count("example.com/other", 4), st.Count(corev1.ResourcePods, 9))))
			p.Running = append(p.Running, st.Pod("runs-"+name, st.OnNode(name), st.Requests(st.MilliCPU(milli), st.Count(device, int64(used)))))
			var sum, weights int64
			for _, q := range [][3]int64{{int64(used+1) * 100 / int64(devices), weight}, {(milli + 100) * 100 / int64(1000*cores), 1}} {
				if v := linear(shape, q[0]); v > 0 {
					sum, weights = sum+v*q[1], weights+q[1]
				}
			}
			score := int64(math.Round(float64(sum) / float64(max(weights, 1))))
			if score > best {
				best = score
				clear(want)
			}
			if score == best {
				want[name] = true
			}
		}
		bound, err := provisioning.Bind(p, 1)
		require.NoError(t, err)
		require.Contains(t, want, bound[0].Node, "round %d", round)
		require.Equal(t, len(want) > 1, bound[0].Drawn, "round %d", round)
		if bound[0].Drawn {
			drawn++
		}
	}
	require.Less(t, drawn, 30)
}
