package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// standsIn puts a node into a zone.
func standsIn(zone string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = zone }
}

// spreadWeb spreads the pods with the label app=web over zones, a skew of 1 allowed.
func spreadWeb(p *corev1.Pod) {
	p.Labels = map[string]string{"app": "web"}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
}

// turnsWorld has a pod web-N on each of the nodes, which are in the zones that are named.
func turnsWorld(t *testing.T, change func(*corev1.Pod), zones ...string) (*state, []string) {
	t.Helper()
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	var names []string
	for i, zone := range zones {
		name := string(rune('a'+i)) + "-" + zone
		nodes = append(nodes, machine(t, name, "m.large", od, standsIn(zone)))
		pods = append(pods, pod("web-"+name, name, "100m", change))
		names = append(names, name)
	}
	c := world(t, pool(), nodes, pods...)
	b := guarding(1)
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{b}
	f := newState(Planner{Now: noon()}, &c)
	for _, name := range names { // whatever the catalog sells where
		f.byName[name].price, f.byName[name].priced = offerings.MustPrice("0.1"), true
	}
	return simulated(t, f), names
}

// simulated is a state that knows where kube-scheduler lets pods land.
func simulated(t *testing.T, f *state) *state {
	t.Helper()
	var err error
	f.landing, err = newLanding(f)
	require.NoError(t, err)
	return f
}

// Pods that leave one after the other leave in an order in which each may land.
func TestTurns(t *testing.T) {
	// Zones hold 2, 1 and 2. One pod goes from z to x, one from x to y: after the first move
	// alone, x would hold 3 and y 1.
	f, _ := turnsWorld(t, spreadWeb, "x", "x", "y", "z", "z")
	step := &Step{Reason: Underutilized, Drain: []string{"a-x", "d-z"}, Evictions: []Eviction{
		{Pod: "shop/web-d-z", From: "d-z", To: "b-x"}, {Pod: "shop/web-a-x", From: "a-x", To: "c-y"},
	}}
	uses, ok := assignWaves(f, step, nil)
	require.True(t, ok)
	assert.Equal(t, []BudgetUse{{Budget: "shop/web", Pods: 1, Allowed: 1}}, uses)
	assert.Equal(t, "shop/web-a-x", step.Evictions[0].Pod)
	assert.Equal(t, 1, step.Evictions[0].Wave)
	assert.Equal(t, 2, step.Evictions[1].Wave)
}

// Two that change places across zones cannot do so one by one where the skew is used up.
func TestOutOfTurn(t *testing.T) {
	keep := func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		keepsApart(p)
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelTopologyZone
	}
	f, _ := turnsWorld(t, keep, "x", "y")
	c := world(t, pool(), []*corev1.Node{machine(t, "to-x", "m.large", od, standsIn("x")), machine(t, "to-y", "m.large", od, standsIn("y"))})
	for _, n := range c.Nodes {
		f.byName[n.Name] = &candidate{name: n.Name, node: n, machine: &Machine{}, original: &Machine{}}
		f.nodes = append(f.nodes, f.byName[n.Name])
	}
	simulated(t, f)
	o := &outcome{nodes: []string{"a-x", "b-y"}, moves: []landing.Move{{Pod: "shop/web-a-x", From: "a-x", To: "to-y"}, {Pod: "shop/web-b-y", From: "b-y", To: "to-x"}}}
	for _, reason := range []Reason{Drifted, Underutilized} {
		_, cause := admit(f, reason, o)
		require.NotNil(t, cause, reason)
		assert.Equal(t, CauseBudget, cause.Code)
		assert.Equal(t, "poddisruptionbudget/shop/web", cause.Object)
	}
	step, cause := admit(f, Expired, o)
	require.Nil(t, cause, "what has to be is done at once")
	assert.Equal(t, []int{1, 1}, []int{step.Evictions[0].Wave, step.Evictions[1].Wave})
	assert.Equal(t, 2, step.PodDisruptionBudgets[0].Pods)
	f.rules.podBudgets.Charges(f.pods["shop/web-a-x"])[0].Allowed = 2
	step, cause = admit(f, Underutilized, o)
	require.Nil(t, cause, "both at once is fine")
	assert.Equal(t, 1, step.Evictions[1].Wave)
}

// Who follows others lands when they have, also on machines that the step buys.
func TestFollowersTakeTurns(t *testing.T) {
	f, _ := turnsWorld(t, func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		if p.Name == "web-a-x" { // it follows the others to a host
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			}}}
		}
	}, "x", "x")
	l := bought(option("m.small", "a", offerings.Spot, "0.02"))
	step := &Step{Reason: Underutilized, Drain: []string{"a-x", "b-x"}, Evictions: []Eviction{
		{Pod: "shop/web-a-x", From: "a-x", To: "default-1"}, {Pod: "shop/web-b-x", From: "b-x", To: "default-1"},
	}}
	step.Launches = append(step.Launches, l)
	_, ok := assignWaves(f, step, nil)
	require.True(t, ok)
	assert.Equal(t, "shop/web-b-x", step.Evictions[0].Pod)
	assert.Equal(t, 2, step.Evictions[1].Wave)
}

// What pods that wait would make possible is not possible yet.
func TestPodsThatWaitMakeNoRoomInSpreads(t *testing.T) {
	to := func(zone string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			spreadWeb(p)
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone}
			// Nodes of all zones count, also those that the pod may not use.
			p.Spec.TopologySpreadConstraints[0].NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
		}
	}
	// web-1 may go to zone b alone, which has one already: b may hold two once a holds one.
	c := world(t, pool(), []*corev1.Node{machine(t, "n-a", "m.large", od), machine(t, "n-b", "m.large", od, standsIn("b")), machine(t, "old", "m.large", od, standsIn("b"))},
		pod("web-1", "old", "100m", to("b")), pod("web-2", "n-b", "1900m", to("b")), pod("full", "n-a", "1900m", annotated(eviction.DoNotDisrupt, "true")))
	c.Pods = []*corev1.Pod{pod("web-3", "", "1", to("a"), waiting)}
	c.Machines = []Machine{driftedMachine("old", 1)}
	plan := planned(t, onlyFor(Drifted), c)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, CauseNoPlace, causes(t, plan, "old")[0])

	c.Machines[0] = Machine{Node: "old", Interruption: &Interruption{}}
	plan = planned(t, onlyFor(Interrupted), c)
	require.Len(t, plan.Steps, 1)
	assert.Equal(t, "shop/web-1", plan.Steps[0].Evictions[0].Pod)
	assert.Empty(t, plan.Steps[0].Evictions[0].To)
	assert.Len(t, plan.Warnings, 1)
}
