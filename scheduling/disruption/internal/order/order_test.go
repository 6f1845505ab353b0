package order_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/order"
)

// removed is the price of a node to be removed, bought that of a launch; two nodes cost more than a launch, and one less.
const (
	removed offerings.Price = 3
	bought  offerings.Price = 4
)

// task is a step that removes the nodes from which the moves go. The zone of a node is the first letter of its name. All pods
// are alike, with a change; nil for none. All pods are alike, unless they have a volume of their
// own. The parts that are tried are appended to a list, and made if all admits them.
func task(t *testing.T, tried *[]order.Part, all bool, change func(*corev1.Pod), moves ...landing.Move) order.Task {
	t.Helper()
	task := order.Task{
		Moves: moves, Pods: map[string]*corev1.Pod{}, MustSave: true,
		Weight:        func(string) float64 { return 1 },
		Price:         func(*scheduling.Launch) offerings.Price { return bought },
		WithinBudgets: func([]string) bool { return true },
		Decide: func(_ context.Context, p *order.Part) (bool, error) {
			*tried = append(*tried, *p)
			return all, nil
		},
	}
	x := landing.Cluster{Policy: &scheduling.Policy{}}
	step := &landing.Step{Moves: moves}
	names := map[string]bool{}
	add := func(name string) {
		if name == "" || names[name] {
			return
		}
		names[name] = true
		x.Problem.Nodes = append(x.Problem.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: name[:1]}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110")}},
		})
	}
	for _, m := range moves {
		if !names[m.From] {
			step.Drain = append(step.Drain, m.From)
			task.Nodes = append(task.Nodes, order.Node{Name: m.From, Price: removed, Cost: float64(len(task.Nodes) + 1)})
		}
		add(m.From)
		if m.To == "launch" {
			if len(task.Launches) == 0 {
				task.Launches = []scheduling.Launch{{Name: "launch"}}
			}
		} else {
			add(m.To)
		}
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: m.Pod[len("shop/"):]},
			Spec:       corev1.PodSpec{NodeName: m.From, Containers: []corev1.Container{{Name: "c"}}},
		}
		if change != nil {
			change(p)
		}
		task.Pods[m.Pod], x.Movable = p, append(x.Movable, p)
	}
	l, err := landing.New(x)
	require.NoError(t, err)
	task.Trial = l.Try(step, func(string, string) bool { return false })
	return task
}

// Nodes whose pods go to nodes that exist are removed one by one, those first that cost most for their disruption cost.
func TestRemoveOne(t *testing.T) {
	var tried []order.Part
	a, b := landing.Move{Pod: "shop/a", From: "one", To: "stays"}, landing.Move{Pod: "shop/b", From: "two", To: "stays"}
	o := order.New(task(t, &tried, true, nil, a, b))
	assert.Equal(t, []string{"one", "two"}, o.Remaining())
	for _, m := range []landing.Move{a, b} {
		ok, err := o.RemoveOne(t.Context(), 0)
		require.NoError(t, err)
		assert.True(t, ok)
		o.Apply([]string{m.From}, nil, []landing.Move{m})
	}
	assert.Empty(t, o.Remaining())
	assert.Equal(t, []order.Part{{Nodes: []string{"one"}, Moves: []landing.Move{a}}, {Nodes: []string{"two"}, Moves: []landing.Move{b}}}, tried)
}

// Pods that scheduling cannot tell apart exchange their destinations: the pod of the first node was to go to a launch, and
// takes the place of the other pod on a node that exists, so that its node goes without a launch.
func TestPodsExchangeDestinations(t *testing.T) {
	var tried []order.Part
	o := order.New(task(t, &tried, true, nil, landing.Move{Pod: "shop/a", From: "one", To: "launch"}, landing.Move{Pod: "shop/b", From: "two", To: "stays"}))
	ok, err := o.RemoveOne(t.Context(), 0)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, []landing.Move{{Pod: "shop/a", From: "one", To: "stays"}}, tried[0].Moves)
}

// A node that needs a launch which costs more than it saves is removed together with others, as few as possible.
func TestRemoveGroup(t *testing.T) {
	var tried []order.Part
	o := order.New(task(t, &tried, true, nil,
		landing.Move{Pod: "shop/a", From: "one", To: "launch"}, landing.Move{Pod: "shop/b", From: "two", To: "launch"}, landing.Move{Pod: "shop/c", From: "three", To: "launch"}))
	alone, err := o.RemoveOne(t.Context(), 0)
	require.NoError(t, err)
	assert.False(t, alone, "its pod has no node without the launch")
	together, err := o.RemoveGroup(t.Context())
	require.NoError(t, err)
	assert.True(t, together)
	assert.Equal(t, []order.Part{{Nodes: []string{"one", "two"}, Launches: []string{"launch"}, Moves: []landing.Move{{Pod: "shop/a", From: "one", To: "launch"}, {Pod: "shop/b", From: "two", To: "launch"}}}}, tried)
	o.Apply([]string{"one", "two"}, nil, tried[0].Moves)
	assert.True(t, o.FitsLastLaunched(0), "the launch has a place for the pod of the last node")
}

// A part that is refused changes nothing: all nodes remain, and the same part is tried the next time, once.
func TestRefusedPart(t *testing.T) {
	var tried []order.Part
	o := order.New(task(t, &tried, false, nil, landing.Move{Pod: "shop/a", From: "one", To: "launch"}, landing.Move{Pod: "shop/b", From: "two", To: "launch"}))
	for range 2 {
		ok, err := o.RemoveGroup(t.Context())
		require.NoError(t, err)
		assert.False(t, ok)
		assert.Equal(t, []string{"one", "two"}, o.Remaining())
	}
	require.Len(t, tried, 2)
	assert.Equal(t, tried[0], tried[1])
}

// kube-scheduler may bind pods of a step elsewhere than planned. From then on a pod counts in the domain of its new node
// alone: here zone t has lost its pod to zone o, so that the other pod must go to zone t, because of its spread.
func TestPodsBoundElsewhere(t *testing.T) {
	var tried []order.Part
	spread := func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}
	}
	o := order.New(task(t, &tried, true, spread, landing.Move{Pod: "shop/a", From: "one", To: "one-2"}, landing.Move{Pod: "shop/b", From: "two", To: "two-2"}))
	o.Apply([]string{"two"}, nil, []landing.Move{{Pod: "shop/b", From: "two", To: "one-2"}})
	ok, err := o.RemoveOne(t.Context(), 0)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, []landing.Move{{Pod: "shop/a", From: "one", To: "two-2"}}, tried[0].Moves)
}
