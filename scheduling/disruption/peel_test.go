package disruption

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// halves is a carrier for four large nodes that are half full, and the step in which what
// they hold moves onto new machines for half of the price.
func halves(t *testing.T, budget string, change ...func(*corev1.Pod)) (*carrier, *Step) {
	t.Helper()
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	var all []string
	for _, name := range []string{"a", "b", "c", "d"} {
		nodes, all = append(nodes, machine(t, name, "m.large", od)), append(all, name)
		for i := range 2 {
			pods = append(pods, pod(fmt.Sprintf("%s%d", name, i), name, "450m", change...))
		}
	}
	p := onDemand(func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets[0].Nodes = budget })
	c := world(t, p, nodes, pods...)
	s, err := newState(t.Context(), Planner{}, &c)
	require.NoError(t, err)
	o, err := s.ask(t.Context(), &question{nodes: all, buy: true})
	require.NoError(t, err)
	require.Empty(t, o.stuck)
	return &carrier{frame: newFrame(Planner{}, &c), state: s}, &Step{Reason: Underutilized, Drain: o.nodes, Launches: o.launches, Evictions: o.evictions}
}

// What is taken off a step and what is left are the step: its nodes, its machines, and as
// many pods on each of these.
func TestPeel(t *testing.T) {
	c, step := halves(t, "3")
	require.NotEmpty(t, step.Launches)
	some, rest := c.peel(step)
	require.NotNil(t, some)
	assert.LessOrEqual(t, len(some.Drain), 3)
	assert.NotEmpty(t, rest.Drain)
	assert.ElementsMatch(t, step.Drain, slices.Concat(some.Drain, rest.Drain))
	assert.Positive(t, some.SavingPerHour)
	assert.Equal(t, c.frame.spent(step.Launches), c.frame.spent(slices.Concat(some.Launches, rest.Launches)))
	places := func(steps ...*Step) map[string]int {
		out := map[string]int{}
		for _, s := range steps {
			for _, e := range s.Evictions {
				out[e.To]++
			}
		}
		return out
	}
	assert.Equal(t, places(step), places(some, rest))
	for _, s := range []*Step{some, rest} {
		for _, e := range s.Evictions {
			assert.Contains(t, s.Drain, e.From)
		}
	}
	for _, e := range some.Evictions {
		assert.True(t, slices.ContainsFunc(some.Launches, func(l scheduling.Launch) bool { return l.Name == e.To }), "%s goes to a machine that is bought later", e.Pod)
	}
	for i := range some.Launches {
		assert.Len(t, some.Launches[i].Pods, places(some)[some.Launches[i].Name])
	}
}

// Nothing is taken off where no part would save, or is allowed to be done.
func TestPeelNothing(t *testing.T) {
	for _, budget := range []string{"0", "1"} {
		c, step := halves(t, budget)
		some, rest := c.peel(step)
		assert.Nil(t, some, budget)
		assert.Nil(t, rest, budget)
	}
	c, step := halves(t, "100%")
	step.Drain = step.Drain[:1]
	some, _ := c.peel(step)
	assert.Nil(t, some, "one node is no step to be divided")
}

// Pods are alike if they ask for the same and nothing ties one to a node.
func TestKindsOfPods(t *testing.T) {
	c, _ := halves(t, "3")
	kind := func(name string, change ...func(*corev1.Pod)) string {
		return c.kind(pod(name, "a", "450m", change...))
	}
	like := kind("x")
	assert.Equal(t, like, kind("y"))
	assert.Equal(t, like, kind("y", labelled("app", "web")), "labels tie pods to nothing by themselves")
	assert.NotEqual(t, like, c.kind(pod("y", "a", "400m")))
	for name, change := range map[string]func(*corev1.Pod){
		"selector": func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} },
		"held":     annotated(doNotDisrupt, "1h"),
		"port":     func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} },
		"volume": func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}}}
		},
	} {
		assert.NotEqual(t, like, kind("y", change), name)
	}
}
