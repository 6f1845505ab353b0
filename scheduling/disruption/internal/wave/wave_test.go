package wave_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/wave"
)

// world is a cluster of nodes that are named after their zones: x-1 is in zone x.
type world struct {
	t     *testing.T
	nodes []*corev1.Node
	pods  []*corev1.Pod
}

// withNodes adds nodes.
func (w *world) withNodes(names ...string) *world {
	for _, name := range names {
		w.nodes = append(w.nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: name[:1]}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110")}},
		})
	}
	return w
}

// withPod adds a ready pod of an app on a node. Pods of the app web are spread over zones with a maxSkew of 1.
func (w *world) withPod(name, app, on string) *world {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Name: "c"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	if app == "web" {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}
	}
	w.pods = append(w.pods, p)
	return w
}

// assign divides the moves of a step into waves, where a PodDisruptionBudget lets so many pods of an app be away, and
// returns the wave of each pod.
func (w *world) assign(app string, away int, s *wave.Step) (waves map[string]int, uses []wave.Use, ok bool) {
	n := intstr.FromInt(away)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: app},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}
	l, err := landing.New(landing.Cluster{Problem: scheduling.Problem{Nodes: w.nodes}, Policy: &scheduling.Policy{}, Movable: w.pods})
	require.NoError(w.t, err)
	c := wave.Cluster{
		Pods: map[string]*corev1.Pod{}, Budgets: eviction.NewBudgets([]*policyv1.PodDisruptionBudget{budget}, w.pods), Landing: l,
		OutOfTime: func() bool { return false },
	}
	for _, p := range w.pods {
		c.Pods["shop/"+p.Name] = p
	}
	uses, ok = c.Assign(s, func() *landing.Trial {
		return l.Try(&landing.Step{Moves: s.Moves}, func(string, string) bool { return true })
	})
	waves = map[string]int{}
	for _, m := range s.Moves {
		waves[m.Pod] = m.Wave
	}
	return waves, uses, ok
}

// A budget that lets two of five pods be away makes three waves. Pods without a budget leave in the first.
func TestBudgetsMakeWaves(t *testing.T) {
	w := (&world{t: t}).withNodes("x-1", "x-2").withPod("job", "job", "x-1")
	s := &wave.Step{Moves: []landing.Move{{Pod: "shop/job", From: "x-1", To: "x-2"}}}
	for _, name := range []string{"db-1", "db-2", "db-3", "db-4", "db-5"} {
		w.withPod(name, "db", "x-1")
		s.Moves = append(s.Moves, landing.Move{Pod: "shop/" + name, From: "x-1", To: "x-2"})
	}
	waves, uses, ok := w.assign("db", 2, s)
	assert.True(t, ok)
	assert.Equal(t, map[string]int{"shop/job": 1, "shop/db-1": 1, "shop/db-2": 1, "shop/db-3": 2, "shop/db-4": 2, "shop/db-5": 3}, waves)
	assert.Equal(t, []wave.Use{{Budget: "shop/db", Pods: 2, Allowed: 2}}, uses)
}

// Early pods leave before all others, in waves of their own, even if the budget would let others leave with them.
func TestEarlyPodsLeaveFirst(t *testing.T) {
	w := (&world{t: t}).withNodes("x-1", "x-2").withPod("db-1", "db", "x-1").withPod("db-2", "db", "x-1")
	s := &wave.Step{
		Moves: []landing.Move{{Pod: "shop/db-1", From: "x-1", To: "x-2"}, {Pod: "shop/db-2", From: "x-1", To: "x-2"}},
		Early: map[string]bool{"shop/db-2": true},
	}
	waves, _, ok := w.assign("db", 2, s)
	assert.True(t, ok)
	assert.Equal(t, map[string]int{"shop/db-2": 1, "shop/db-1": 2}, waves)
}

// A spread that holds after the step need not hold on the way. With a pod in zone x and two in zone y, the pod in x cannot
// move to y before one of y has moved to x: y would have three pods then, and x none.
func TestSpreadPodsLeaveInAnOrder(t *testing.T) {
	w := (&world{t: t}).withNodes("x-1", "x-2", "y-1", "y-2", "y-3").withPod("web-1", "web", "x-1").withPod("web-2", "web", "y-1").withPod("web-3", "web", "y-2")
	s := &wave.Step{Moves: []landing.Move{{Pod: "shop/web-1", From: "x-1", To: "y-3"}, {Pod: "shop/web-3", From: "y-2", To: "x-2"}}}
	waves, _, ok := w.assign("web", 1, s)
	assert.True(t, ok)
	assert.Equal(t, map[string]int{"shop/web-3": 1, "shop/web-1": 2}, waves)
}

// A step whose pods end where their spread does not hold has no order. An expired node is removed all the same, with all
// pods at once, and an interrupted machine does not wait for any order.
func TestNoOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		step wave.Step
		ok   bool
	}{
		"consolidation": {wave.Step{}, false},
		"expiry":        {wave.Step{Unordered: true}, true},
		"interruption":  {wave.Step{AtOnce: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := (&world{t: t}).withNodes("x-1", "y-1", "y-2", "y-3").withPod("web-1", "web", "x-1").withPod("web-2", "web", "y-1").withPod("web-3", "web", "y-2")
			tc.step.Moves = []landing.Move{{Pod: "shop/web-1", From: "x-1", To: "y-3"}, {Pod: "shop/web-2", From: "y-1", To: "y-3"}}
			waves, _, ok := w.assign("web", 1, &tc.step)
			assert.Equal(t, tc.ok, ok)
			if ok {
				assert.Equal(t, map[string]int{"shop/web-1": 1, "shop/web-2": 1}, waves)
			}
		})
	}
}
