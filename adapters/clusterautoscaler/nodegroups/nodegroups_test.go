package nodegroups_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/nodegroups"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// byLabel has the prices that nodes carry in a label.
type byLabel struct{}

func (byLabel) PriceOf(node *corev1.Node) offerings.Price {
	return offerings.MustPrice(node.Labels["price"])
}

// template is the node that a group would add: in a zone, with so many cores and four times as many GiB.
func template(kind, zone string, cores int64, price string) *corev1.Node {
	n := &corev1.Node{}
	n.Labels = map[string]string{corev1.LabelInstanceTypeStable: kind, corev1.LabelTopologyZone: zone, "price": price, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux"}
	n.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(4*cores<<30, resource.BinarySI),
		corev1.ResourcePods: resource.MustParse("110"),
	}
	n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	return n
}

// world is a cluster in the making.
type world struct{ nodegroups.Cluster }

func newWorld(groups ...nodegroups.Group) *world {
	w := &world{nodegroups.Cluster{Groups: groups, GroupOf: map[string]string{}}}
	w.Problem.Now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return w
}

// join adds ready nodes of a group, with pods of so many millicores on each, and raises the group's target.
func (w *world) join(g, n int, pods ...int64) (names []string) {
	group := &w.Groups[g]
	for range n {
		node := group.Template.DeepCopy()
		node.Name = fmt.Sprintf("%s-%d", group.ID, group.Target)
		node.Labels[corev1.LabelHostname] = node.Name
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		w.GroupOf[node.Name] = group.ID
		w.Problem.Nodes = append(w.Problem.Nodes, node)
		for i, cores := range pods {
			w.run(fmt.Sprintf("%s-%d", node.Name, i), node.Name, cores)
		}
		group.Target++
		names = append(names, node.Name)
	}
	return names
}

// run adds a running pod of a ReplicaSet.
func (w *world) run(name, node string, cores int64, opts ...st.PodOption) *corev1.Pod {
	opts = append([]st.PodOption{st.Requests(st.MilliCPU(cores)), st.OnNode(node), st.OwnedBy("ReplicaSet", "web")}, opts...)
	pod := st.Pod(name, opts...)
	w.Problem.Running = append(w.Problem.Running, pod)
	return pod
}

// wait adds pending pods.
func (w *world) wait(name string, n int, cores int64, opts ...st.PodOption) {
	w.Problem.Pods = append(w.Problem.Pods, st.Pods(n, name, append([]st.PodOption{st.Requests(st.MilliCPU(cores))}, opts...)...)...)
}

func (w *world) up(t *testing.T, p nodegroups.Planner) *nodegroups.ScaleUp {
	t.Helper()
	p.Prices = byLabel{}
	plan, err := p.ScaleUp(t.Context(), w.Cluster)
	require.NoError(t, err)
	return plan
}

func (w *world) down(t *testing.T, p nodegroups.Planner) *nodegroups.ScaleDown {
	t.Helper()
	p.Prices = byLabel{}
	plan, err := p.ScaleDown(t.Context(), w.Cluster)
	require.NoError(t, err)
	return plan
}

// sizes are the changes of sizes, as group:from→to.
func sizes(resizes []nodegroups.Resize) (out []string) {
	for _, r := range resizes {
		out = append(out, fmt.Sprintf("%s:%d→%d", r.Group, r.From, r.To))
	}
	return out
}

func group(id string, most int, node *corev1.Node) nodegroups.Group {
	return nodegroups.Group{ID: id, Max: most, Template: node}
}

// The small rest of the pods gets a small node, and ids that are no label values are ids all the same.
func TestScaleUpGrowsSeveralGroups(t *testing.T) {
	w := newWorld(group("https://cloud/big", 10, template("big", "a", 16, "0.64")), group("small", 10, template("small", "a", 4, "0.2")))
	w.wait("web", 9, 4000)
	plan := w.up(t, nodegroups.Planner{})
	assert.Equal(t, []string{"https://cloud/big:0→2", "small:0→1"}, sizes(plan.Resizes))
	assert.Equal(t, "1.48", plan.PricePerHour.String())
	assert.Len(t, plan.Resizes[0].Pods, 8)
	assert.Equal(t, "adds 2 nodes for 8 pods", plan.Resizes[0].Reason)
	assert.Empty(t, plan.Unschedulable)
}

// Without a placement plans are those for pods that kube-scheduler binds, as they state its estimate.
func TestDefaultPlacement(t *testing.T) {
	w := newWorld(nodegroups.Group{ID: "a", Max: 10, Template: template("a", "zone-a", 4, "0.2")})
	w.wait("web", 6, 1000)
	up, err := nodegroups.Planner{Prices: byLabel{}}.ScaleUp(t.Context(), w.Cluster)
	require.NoError(t, err)
	require.NotNil(t, up.Plan.Summary.AfterScheduling)
	up, err = nodegroups.Planner{Prices: byLabel{}, Policy: scheduling.Policy{Placement: scheduling.PlacementPinned}}.ScaleUp(t.Context(), w.Cluster)
	require.NoError(t, err)
	require.Nil(t, up.Plan.Summary.AfterScheduling)
}

func TestScaleUpHoldsTheMaximum(t *testing.T) {
	w := newWorld(group("small", 2, template("small", "a", 4, "0.2")))
	w.join(0, 1, 4000)
	w.wait("web", 3, 4000)
	plan := w.up(t, nodegroups.Planner{})
	assert.Equal(t, []string{"small:1→2"}, sizes(plan.Resizes))
	require.Len(t, plan.Unschedulable, 2)
	assert.Equal(t, scheduling.ReasonLimits, plan.Unschedulable[0].Reasons[0].Code)
}

// Nodes that the target promises take in pods before a group grows.
func TestScaleUpWaitsForNodesUnderWay(t *testing.T) {
	w := newWorld(group("small", 9, template("small", "a", 4, "0.2")))
	w.join(0, 1, 4000)
	w.Groups[0].Target = 3
	w.wait("web", 3, 4000)
	plan := w.up(t, nodegroups.Planner{})
	assert.Equal(t, []string{"small:3→4"}, sizes(plan.Resizes))
	assert.Len(t, plan.Waiting, 2)
	assert.Len(t, plan.Resizes[0].Pods, 1)
}

// A node that has joined and is not ready yet takes in pods, too, until it has taken too long.
func TestScaleUpWaitsForNodesThatStart(t *testing.T) {
	for age, want := range map[time.Duration][]string{time.Minute: nil, time.Hour: {"small:1→2"}} {
		w := newWorld(group("small", 9, template("small", "a", 4, "0.2")))
		w.join(0, 1)
		node := w.Problem.Nodes[0]
		node.CreationTimestamp = metav1.NewTime(w.Problem.Now.Add(-age))
		node.Status.Conditions[0].Status = corev1.ConditionFalse
		node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
		w.wait("web", 1, 3000)
		assert.Equal(t, want, sizes(w.up(t, nodegroups.Planner{}).Resizes), age)

		node.Status.Conditions[0].Status = corev1.ConditionTrue
		node.Spec.Taints[0].Key = "startup-taint.cluster-autoscaler.kubernetes.io/network"
		w.Groups[0].Template.Spec.Taints = node.Spec.Taints
		assert.Equal(t, want, sizes(w.up(t, nodegroups.Planner{}).Resizes), age)
	}
	w := newWorld(group("small", 9, template("small", "a", 4, "0.2")))
	w.join(0, 1)
	w.Problem.Nodes[0].Status = corev1.NodeStatus{} // it reports no resources yet
	w.Problem.Nodes[0].CreationTimestamp = metav1.NewTime(w.Problem.Now)
	w.wait("web", 1, 3000)
	for _, kind := range []string{"small", "other"} {
		w.Problem.Nodes[0].Labels[corev1.LabelInstanceTypeStable] = kind
		want := map[string][]string{"other": {"small:1→2"}}[kind]
		assert.Equal(t, want, sizes(w.up(t, nodegroups.Planner{}).Resizes), "the resources of the template count for nodes of its type")
	}
}

// Labels, taints and DaemonSets hold as on nodes.
func TestScaleUpByLabelsAndTaints(t *testing.T) {
	tainted := template("cheap", "a", 16, "0.1")
	tainted.Spec.Taints = []corev1.Taint{{Key: "team", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	labelled := template("small", "b", 4, "0.2")
	labelled.Labels["eks.amazonaws.com/nodegroup"], labelled.Labels["node.example.com/disk"] = "workers", "fast"
	w := newWorld(group("tainted", 9, tainted), group("labelled", 9, labelled))
	w.wait("web", 2, 1600, st.Select("eks.amazonaws.com/nodegroup", "workers"), st.Select("node.example.com/disk", "fast"), st.Select(corev1.LabelTopologyZone, "b"))
	w.Problem.DaemonSets = append(w.Problem.DaemonSets, st.DaemonSet("agent", st.Requests(st.Cores(1))))
	assert.Equal(t, []string{"labelled:0→2"}, sizes(w.up(t, nodegroups.Planner{}).Resizes))
}

// An atomic group grows to its maximum or not at all: for pods that fit nowhere else, or where it is cheaper.
func TestScaleUpOfAtomicGroups(t *testing.T) {
	atomic := func(price string) nodegroups.Group {
		return nodegroups.Group{ID: "slice", Max: 4, Template: template("slice", "a", 8, price), Atomic: true}
	}
	w := newWorld(atomic("0.3"), group("small", 20, template("small", "a", 4, "0.2")))
	w.wait("web", 2, 4000)
	assert.Equal(t, []string{"small:0→2"}, sizes(w.up(t, nodegroups.Planner{}).Resizes), "4 nodes of the slice are more expensive")
	w.wait("more", 6, 4000)
	plan := w.up(t, nodegroups.Planner{})
	assert.Equal(t, []string{"slice:0→4"}, sizes(plan.Resizes), "they cost less than 8 nodes")
	assert.Equal(t, "adds 4 nodes for 8 pods; the group grows to its maximum at once", plan.Resizes[0].Reason)
	assert.Equal(t, "1.2", plan.PricePerHour.String())

	w = newWorld(atomic("9"), group("small", 20, template("small", "a", 4, "0.2")))
	w.wait("large", 1, 6000)
	assert.Equal(t, []string{"slice:0→4"}, sizes(w.up(t, nodegroups.Planner{}).Resizes), "the pod fits on no other node")
}

func TestScaleUpBalancesSimilarGroups(t *testing.T) {
	of := func(zone string) nodegroups.Group {
		return group("workers-"+zone, 4, template("small", zone, 4, "0.2"))
	}
	w := newWorld(of("a"), of("b"), of("c"), group("other", 9, template("other", "a", 5, "0.3")))
	w.Groups[3].Template.Labels["team"] = "x"
	w.join(0, 3, 4000)
	w.wait("web", 6, 4000)
	plan := w.up(t, nodegroups.Planner{Balance: true})
	assert.Equal(t, []string{"workers-b:0→3", "workers-c:0→3"}, sizes(plan.Resizes))
	assert.Equal(t, "adds 3 nodes for 3 pods; balanced with similar groups", plan.Resizes[0].Reason)
	w.wait("more", 2, 4000)
	assert.Equal(t, []string{"workers-a:3→4", "workers-b:0→4", "workers-c:0→3"}, sizes(w.up(t, nodegroups.Planner{Balance: true}).Resizes), "none is above its maximum")

	w = newWorld(of("a"), of("b"))
	w.wait("bound", 3, 4000, st.Select(corev1.LabelTopologyZone, "b"))
	assert.Equal(t, []string{"workers-b:0→3"}, sizes(w.up(t, nodegroups.Planner{Balance: true}).Resizes), "pods that need a zone keep its nodes")
}

func TestSimilar(t *testing.T) {
	a := template("small", "a", 4, "0.2")
	for want, change := range map[string]func(*corev1.Node){
		"true: zone":        func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = "b" },
		"true: group":       func(n *corev1.Node) { n.Labels["eks.amazonaws.com/nodegroup"] = "b" },
		"true: memory":      func(n *corev1.Node) { n.Status.Capacity[corev1.ResourceMemory] = resource.MustParse("16150Mi") },
		"true: named":       func(n *corev1.Node) { n.Labels["pool"] = "b" },
		"true: allocatable": func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("3900m") },
		"false: memory":     func(n *corev1.Node) { n.Status.Capacity[corev1.ResourceMemory] = resource.MustParse("15Gi") },
		"false: cpu":        func(n *corev1.Node) { n.Status.Capacity[corev1.ResourceCPU] = resource.MustParse("3999m") },
		"false: alloc":      func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("3700m") },
		"false: label":      func(n *corev1.Node) { n.Labels["team"] = "b" },
		"false: kind":       func(n *corev1.Node) { n.Labels[corev1.LabelInstanceTypeStable] = "b" },
		"false: gpu":        func(n *corev1.Node) { n.Status.Capacity["nvidia.com/gpu"] = resource.MustParse("1") },
	} {
		b := a.DeepCopy()
		change(b)
		for _, pair := range [][2]*corev1.Node{{a, b}, {b, a}} {
			assert.Equal(t, want[:4] == "true", nodegroups.Similar(pair[0], pair[1], "pool"), want)
		}
	}
	assert.False(t, nodegroups.Similar(nil, a))
}

func TestFaultsOfClusters(t *testing.T) {
	w := newWorld(
		nodegroups.Group{ID: "a", Min: 3, Max: 2, Target: -1},
		nodegroups.Group{ID: "a", Min: -1, Template: template("small", "a", 4, "0.2")},
		nodegroups.Group{Template: &corev1.Node{}},
	)
	w.GroupOf["n"] = "b"
	w.Problem.NodePools, w.Problem.Now = []*scheduling.NodePool{{}}, time.Time{}
	p := nodegroups.Planner{ScaleDownSettings: nodegroups.ScaleDownSettings{UtilizationThreshold: -1}}
	_, err := p.ScaleUp(t.Context(), w.Cluster)
	for _, want := range []string{
		"prices: must be set", "utilization threshold -1: must not be negative", "problem: now must be set, because nodes may take 15m0s to become ready", "problem: must have neither NodePools nor catalogs",
		`node group "a": template: must be set`, `node group "a": maximum 2: must not be below the minimum 3`, `node group "a": target -1: must be between 0 and 100000`,
		`node group "a": id: occurs twice`, `node group "a": minimum -1: must not be negative`, `groups[2]: id: must be set`, `node "n": there is no node group "b"`,
	} {
		assert.ErrorContains(t, err, want)
	}
	_, other := p.ScaleDown(t.Context(), w.Cluster)
	assert.Equal(t, err, other)
	w = newWorld(group("a", 1, &corev1.Node{}))
	_, err = nodegroups.Planner{Prices: byLabelOrFree{}}.ScaleUp(t.Context(), w.Cluster)
	assert.ErrorContains(t, err, `node group "a": template node: `)
	assert.ErrorContains(t, err, "capacity.cpu")
}

// Objects that are missing or empty are an error, or of no consequence.
func TestOddClusters(t *testing.T) {
	for _, change := range []func(*world){
		func(*world) {},
		func(w *world) { w.Problem.Pods = []*corev1.Pod{nil} },
		func(w *world) { w.Problem.Nodes = append(w.Problem.Nodes, nil) },
		func(w *world) { w.Problem.Nodes = append(w.Problem.Nodes, w.Problem.Nodes[0]) },
		func(w *world) { w.Problem.Running = append(w.Problem.Running, nil) },
		func(w *world) { w.Problem.DaemonSets = append(w.Problem.DaemonSets, nil) },
		func(w *world) { w.PodDisruptionBudgets = append(w.PodDisruptionBudgets, nil) },
		func(w *world) { w.Problem.Nodes[0].Labels, w.Problem.Nodes[0].Status = nil, corev1.NodeStatus{} },
		func(w *world) { w.Groups[0].Template.Labels = nil },
		func(w *world) { w.Groups[0].Target, w.Groups[0].Max = 3, 0 },
		func(w *world) { w.Groups = nil },
	} {
		w := newWorld(group("a", 4, template("small", "a", 4, "0.2")))
		w.join(0, 2, 500)
		w.wait("web", 2, 3000)
		change(w)
		p := nodegroups.Planner{Prices: byLabelOrFree{}, Balance: true}
		assert.NotPanics(t, func() {
			_, _ = p.ScaleUp(t.Context(), w.Cluster)
			_, _ = p.ScaleDown(t.Context(), w.Cluster)
		})
	}
	for _, err := range []error{
		func() error { _, err := nodegroups.Planner{}.ScaleUp(t.Context(), nodegroups.Cluster{}); return err }(),
		func() error { _, err := nodegroups.Planner{}.ScaleDown(t.Context(), nodegroups.Cluster{}); return err }(),
	} {
		assert.ErrorContains(t, err, "prices: must be set")
	}
}

// byLabelOrFree costs nothing.
type byLabelOrFree struct{}

func (byLabelOrFree) PriceOf(*corev1.Node) offerings.Price { return 0 }
