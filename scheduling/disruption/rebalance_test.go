package disruption

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

// app labels a pod.
func app(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": name} }
}

// ofApp selects the pods of an app.
func ofApp(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// inZone puts a node into a zone.
func inZone(zone string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = zone }
}

// together and apart tie a pod to those of an app by a label of nodes.
func together(key, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: ofApp(name)}}}}
	}
}

func apart(key, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: ofApp(name)}}}}
	}
}

// spread spreads a pod with those of an app.
func spread(key, name string, skew int32, change ...func(*corev1.TopologySpreadConstraint)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: ofApp(name)}
		for _, f := range change {
			f(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

// onDisk wants nodes with the label disk=ssd.
func onDisk(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{}, {MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}}}},
	}}}
}

func ssd(n *corev1.Node) { n.Labels["disk"] = "ssd" }

// tainted gives a node a taint that keeps pods away.
func tainted(key string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: "x", Effect: corev1.TaintEffectNoSchedule})
	}
}

// tolerating lets a pod tolerate a taint.
func tolerating(operator corev1.TolerationOperator, key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Operator: operator, Key: key, Value: value})
	}
}

const byHost, byZone = corev1.LabelHostname, corev1.LabelTopologyZone

func TestRebalance(t *testing.T) {
	node := func(name string, change ...func(*corev1.Node)) *corev1.Node {
		return machine(t, name, "m.xlarge", offerings.OnDemand, change...)
	}
	tests := []struct {
		name  string
		nodes []*corev1.Node
		pods  []*corev1.Pod
		want  []string
	}{
		{
			"pods that want to be apart are", []*corev1.Node{node("n1"), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), apart(byHost, "a")), pod("b", "n1", "1", app("a"), apart(byHost, "a"))},
			[]string{"misplaced  a>n2"},
		},
		{
			"one that is apart stays", []*corev1.Node{node("n1"), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), apart(byHost, "a")), pod("b", "n2", "1", app("a"), apart(byHost, "a"))},
			[]string{},
		},
		{
			"nothing is bought to keep them apart", []*corev1.Node{node("n1")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), apart(byHost, "a")), pod("b", "n1", "1", app("a"), apart(byHost, "a"))},
			[]string{},
		},
		{
			"pods of a node that goes are there until they have landed", []*corev1.Node{
				node("n1"), node("n2", inZone("b")), node("n3", inZone("c"), func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: noon()} }),
			},
			[]*corev1.Pod{
				pod("a", "n1", "1", together(byZone, "b")),
				pod("b", "n3", "1", app("b"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{byZone: "b"} }),
			},
			[]string{},
		},
		{
			"a full node takes nobody in", []*corev1.Node{node("n1"), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), apart(byHost, "a")), pod("b", "n1", "1", app("a"), apart(byHost, "a")), pod("c", "n2", "3500m")},
			[]string{},
		},
		{
			"who was left alone joins the others", []*corev1.Node{node("n1"), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), together(byHost, "b")), pod("b", "n2", "1", app("b"))},
			[]string{"misplaced  a>n2"},
		},
		{
			"who wants to be together is, and the first may be alone", []*corev1.Node{node("n1"), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), together(byHost, "a")), pod("b", "n2", "1", app("b"))},
			[]string{},
		},
		{
			"two of a kind that are not together", []*corev1.Node{node("n1"), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1", app("a"), together(byHost, "a")), pod("b", "n2", "1", app("a"), together(byHost, "a"))},
			[]string{"misplaced  a>n2"},
		},
		{
			"a skew that is too wide is put right, as far as it has to be", []*corev1.Node{node("n1"), node("n2", inZone("b"))},
			[]*corev1.Pod{
				pod("a", "n1", "100m", app("a"), spread(byZone, "a", 1)), pod("b", "n1", "100m", app("a"), spread(byZone, "a", 1)),
				pod("c", "n1", "100m", app("a"), spread(byZone, "a", 1)), pod("d", "n1", "100m", app("a"), spread(byZone, "a", 1)),
			},
			[]string{"misplaced  a>n2", "misplaced  b>n2"},
		},
		{
			"a skew that is allowed is left", []*corev1.Node{node("n1"), node("n2", inZone("b"))},
			[]*corev1.Pod{pod("a", "n1", "100m", app("a"), spread(byZone, "a", 2)), pod("b", "n1", "100m", app("a"), spread(byZone, "a", 2))},
			[]string{},
		},
		{
			"ScheduleAnyway is a preference", []*corev1.Node{node("n1"), node("n2", inZone("b"))},
			[]*corev1.Pod{
				pod("a", "n1", "100m", app("a"), spread(byZone, "a", 1, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })),
				pod("b", "n1", "100m", app("a")),
			},
			[]string{},
		},
		{
			"nodes that a pod may not use do not count for its spread", []*corev1.Node{node("n1", ssd), node("n2", inZone("b"))},
			[]*corev1.Pod{pod("a", "n1", "100m", app("a"), onDisk, spread(byZone, "a", 1)), pod("b", "n1", "100m", app("a"), onDisk, spread(byZone, "a", 1))},
			[]string{},
		},
		{
			"a node that has lost its label loses its pods", []*corev1.Node{node("n1"), node("n2", ssd)},
			[]*corev1.Pod{pod("a", "n1", "1", onDisk), pod("b", "n2", "1", onDisk)},
			[]string{"misplaced  a>n2"},
		},
		{
			"a node selector that is not met any more", []*corev1.Node{node("n1"), node("n2", ssd)},
			[]*corev1.Pod{pod("a", "n1", "1", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })},
			[]string{"misplaced  a>n2"},
		},
		{
			"a taint that came later", []*corev1.Node{node("n1", tainted("team")), node("n2")},
			[]*corev1.Pod{
				pod("a", "n1", "1"), pod("b", "n1", "100m", tolerating(corev1.TolerationOpExists, "team", "")), pod("c", "n1", "100m", tolerating("", "team", "x")),
				pod("d", "n1", "100m", tolerating(corev1.TolerationOpEqual, "team", "y")), pod("e", "n1", "100m", tolerating(corev1.TolerationOpExists, "", "")),
			},
			[]string{"misplaced  a>n2", "misplaced  d>n2"},
		},
		{
			"taints of the moment are none", []*corev1.Node{node("n1", tainted("node.kubernetes.io/unschedulable"), tainted("aws-node-termination-handler/spot-itn"), tainted("DeletionCandidateOfClusterAutoscaler")), node("n2")},
			[]*corev1.Pod{pod("a", "n1", "1")},
			[]string{},
		},
		{
			"do-not-disrupt", []*corev1.Node{node("n1"), node("n2", ssd)},
			[]*corev1.Pod{pod("a", "n1", "1", onDisk, func(p *corev1.Pod) { p.Annotations = map[string]string{eviction.DoNotDisrupt: "true"} })},
			[]string{},
		},
		{
			"a pod of a DaemonSet is where it belongs", []*corev1.Node{node("n1"), node("n2", ssd)},
			[]*corev1.Pod{pod("a", "n1", "1", onDisk, func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d"}}
			})},
			[]string{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := world(t, pool(), tt.nodes, tt.pods...)
			p := Planner{Reasons: []Reason{Misplaced}}
			plan := planned(t, p, c)
			require.Equal(t, tt.want, steps(plan))
			for _, s := range plan.Steps {
				require.Empty(t, s.Drain)
				require.Zero(t, s.SavingPerHour)
				require.InDelta(t, 1, s.DisruptionCost, 1e-9)
			}
			require.Equal(t, plan.Summary.PricePerHourBefore, plan.Summary.PricePerHourAfter)
			require.Empty(t, steps(planned(t, Planner{Reasons: []Reason{Interrupted}}, c)), "nothing moves unless it is asked for")
		})
	}
}

// Budgets hold pods as they do elsewhere, and let go as many as they allow.
func TestRebalanceKeepsBudgets(t *testing.T) {
	one := intstr.FromInt32(1)
	budget := func(spec policyv1.PodDisruptionBudgetSpec) *policyv1.PodDisruptionBudget {
		spec.Selector = ofApp("a")
		return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop"}, Spec: spec}
	}
	c := world(t, pool(), []*corev1.Node{machine(t, "n1", "m.xlarge", offerings.OnDemand), machine(t, "n2", "m.xlarge", offerings.OnDemand, ssd)},
		pod("a", "n1", "1", app("a"), onDisk), pod("b", "n1", "1", app("a"), onDisk))
	p := Planner{Reasons: []Reason{Misplaced}}
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{budget(policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one})}
	plan := planned(t, p, c)
	require.Equal(t, []string{"misplaced  a>n2", "misplaced  b>n2"}, steps(plan))
	require.Equal(t, []BudgetUse{{Budget: "shop/a", Pods: 1, Allowed: 1}}, plan.Steps[1].PodDisruptionBudgets)
	two := intstr.FromInt32(2)
	c.PodDisruptionBudgets[0] = budget(policyv1.PodDisruptionBudgetSpec{MinAvailable: &two})
	require.Empty(t, steps(planned(t, p, c)))
}

// What moves once does not move again, and is looked for after everything else.
func TestRebalanceComesLast(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "n1", "m.xlarge", offerings.OnDemand), machine(t, "n2", "m.xlarge", offerings.OnDemand, ssd), machine(t, "n3", "m.small", offerings.OnDemand)},
		pod("a", "n1", "2500m", onDisk), pod("b", "n3", "500m"), pod("c", "n2", "1"))
	plan := planned(t, Planner{Rebalance: true}, c)
	moves := map[string]int{}
	for i, s := range plan.Steps {
		for _, e := range s.Evictions {
			moves[e.Pod]++
		}
		if s.Reason == Misplaced {
			require.Equal(t, len(plan.Steps)-1, i)
		}
	}
	for name, n := range moves {
		require.Equal(t, 1, n, name)
	}
}

// Terms that this reading of the rules does not follow move nobody.
func TestRulesThatAreNotFollowedMoveNobody(t *testing.T) {
	n1 := machine(t, "n1", "m.xlarge", offerings.OnDemand)
	b := pod("b", "n1", "1", app("a"))
	broken := func(p *corev1.Pod) bool {
		c := world(t, pool(), []*corev1.Node{n1}, p, b)
		return simulated(t, newState(Planner{Now: noon()}, &c)).landing.Misplaced(p, n1)
	}
	term := func(change func(*corev1.PodAffinityTerm)) *corev1.Pod {
		p := pod("a", "n1", "1", app("a"), apart(byHost, "a"))
		change(&p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
		return p
	}
	require.True(t, broken(term(func(*corev1.PodAffinityTerm) {})))
	require.True(t, broken(term(func(x *corev1.PodAffinityTerm) { x.NamespaceSelector = &metav1.LabelSelector{} })), "all namespaces")
	require.True(t, broken(term(func(x *corev1.PodAffinityTerm) { x.Namespaces = []string{"shop"} })))
	require.True(t, broken(term(func(x *corev1.PodAffinityTerm) { x.MatchLabelKeys = []string{"app", "no"} })))
	for name, change := range map[string]func(*corev1.PodAffinityTerm){
		"another namespace":  func(x *corev1.PodAffinityTerm) { x.Namespaces = []string{"else"} },
		"none by a selector": func(x *corev1.PodAffinityTerm) { x.NamespaceSelector = ofApp("x") },
		"nothing selected":   func(x *corev1.PodAffinityTerm) { x.LabelSelector = nil },
		"mismatch":           func(x *corev1.PodAffinityTerm) { x.MismatchLabelKeys = []string{"app"} },
		"no such key":        func(x *corev1.PodAffinityTerm) { x.TopologyKey = "rack" },
		"other values":       func(x *corev1.PodAffinityTerm) { x.LabelSelector = ofApp("z") },
	} {
		require.False(t, broken(term(change)), name)
	}
	for i, change := range []func(*corev1.TopologySpreadConstraint){
		func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil },
		func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "rack" },
		func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = ofApp("z") },
	} {
		p := pod("a", "n1", "1", app("a"), spread(byZone, "a", 1, change, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = new(int32(2)) }))
		require.False(t, broken(p), fmt.Sprint(i))
	}
	p := pod("a", "n1", "1", app("a"), spread(byZone, "a", 1, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = new(int32(2)) }))
	require.True(t, broken(p), "two pods in one of two domains")
}
