package scheduling

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// fullCluster is nodes of uneven room in three zones, and pods that are spread over these, some
// of them one to a node. One node has such a pod already.
func fullCluster(t *testing.T) Problem {
	t.Helper()
	catalog, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	p := Problem{Catalog: catalog, NodePools: []*NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}
	room := func(cpu int64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(cpu<<21, resource.BinarySI),
			corev1.ResourcePods: *resource.NewQuantity(110, resource.DecimalSI),
		}
	}
	for i := range 300 {
		name := fmt.Sprintf("node-%03d", i)
		p.Nodes = append(p.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1" + string("abc"[i%3]), corev1.LabelHostname: name}},
			Status:     corev1.NodeStatus{Allocatable: room(200 + int64(i*37%1_000))},
		})
	}
	pod := func(app string, n int, cpu int64) *corev1.Pod {
		x := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", app, n), Namespace: "shop", Labels: map[string]string{"app": app}}}
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		x.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
		}}
		if app == "db" {
			x.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selector}},
			}}
		}
		requests := room(cpu)
		delete(requests, corev1.ResourcePods)
		x.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}
		return x
	}
	for i := range 10 {
		p.Pods = append(p.Pods, pod("web", i, 250), pod("db", i, 700), pod("large", i, 3_000))
	}
	running := pod("db", 10, 100)
	running.Spec.NodeName = "node-014" // of those with room for a db, the fullest
	p.Running = append(p.Running, running)
	return p
}

// A search among the nodes that are near finds what one among all of them does.
func TestNearNodesAreEnough(t *testing.T) {
	t.Parallel()
	p, s := fullCluster(t), Solver{Effort: EffortFast}
	f, err := newFacts(&p, &s)
	require.NoError(t, err)
	ties := newTies(f.compile(false))
	e := ties.split(topology.Plan(&ties.planner))
	require.NotNil(t, e.near)
	assert.Less(t, len(e.near), 150)
	assert.Len(t, e.model.Bins, len(e.near))

	known := len(ties.land.nearest) + len(ties.nearest)
	assert.Equal(t, e.lodging, ties.lodge(e))
	assert.Equal(t, known, len(ties.land.nearest)+len(ties.nearest), "nothing is worked out twice")
	assert.NotEmpty(t, ties.nearest, "who may be where hangs on who runs there")

	x := trial{compiler: e}
	x.search(pack.Params{Snug: true})
	all := *e
	everywhere := *e.model
	all.model, all.near, all.lodging = &everywhere, nil, nil
	all.seatBins(ties.land.compiler, ties.present)
	y := trial{compiler: &all}
	y.search(pack.Params{Snug: true})
	assert.Len(t, x.Solution.Bins, len(e.near))
	assert.Len(t, y.Solution.Bins, 300)
	wide := x.Solution
	wide.Bins = make([][]model.Item, 300)
	for k, items := range x.Solution.Bins {
		wide.Bins[x.nodeOf(k)] = items
	}
	assert.Equal(t, y.Solution, wide)
}

// Where few nodes run, or many pods wait, all nodes are near.
func TestAllNodesAreNear(t *testing.T) {
	t.Parallel()
	p, s := fullCluster(t), Solver{Effort: EffortFast}
	p.Nodes, p.Running = p.Nodes[:64], nil
	f, err := newFacts(&p, &s)
	require.NoError(t, err)
	ties := newTies(f.compile(false))
	assert.Nil(t, ties.split(topology.Plan(&ties.planner)).near)
}

// Pods that nodes take are where they were in the plan of sites before, whatever becomes of the
// others, and machines cost what they cost beside nodes.
func TestLodgersStay(t *testing.T) {
	t.Parallel()
	p, s := fullCluster(t), Solver{Effort: EffortFast}
	p.NodePools[0].Spec.Template.Spec.Requirements = []requirements.Selector{{
		Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1a", "us-east-1b", "us-east-1c"},
	}}
	f, err := newFacts(&p, &s)
	require.NoError(t, err)
	ties := newTies(f.compile(false))
	plan := topology.Plan(&ties.planner)
	params := pack.Params{Snug: true}
	x := ties.pack(plan, params)
	require.NotNil(t, x.lodging.items)
	require.NotEmpty(t, x.lodgers)

	y := ties.pack(plan, params)
	assert.Same(t, x.lodging, y.lodging)
	assert.Nil(t, y.model.Bins, "they are not looked at")
	assert.Equal(t, x.Solution.Nodes, y.Solution.Nodes)
	for i, items := range x.Solution.Bins {
		assert.ElementsMatch(t, items, y.Solution.Bins[i])
	}
	y.furnish()
	assert.Equal(t, x.model.Bins, y.model.Bins)

	seek := &seeker{ties: x.ties, best: x, left: 10 * seekLeast}
	seek.keepLodgers()
	for i, u := range ties.units {
		app := ties.land.planned[ties.unitBook.units[u].portions[0].class].pods[0].Labels["app"]
		assert.Equal(t, app != "large", seek.lodged[i], app)
	}
	assert.Equal(t, int64(10*seekLeast/30*10), seek.left, "a third of the pods are bought for")

	for _, class := range ties.planner.Classes {
		for _, link := range class.Links {
			x.ties.planner.Rules[link.Rule].Weight = 1
		}
	}
	seek.keepLodgers()
	assert.NotContains(t, seek.lodged, true, "wishes may be granted elsewhere")
}
