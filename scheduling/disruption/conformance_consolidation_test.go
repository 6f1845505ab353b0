package disruption

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

// onDemand is a pool that buys on-demand only.
func onDemand(change ...func(*scheduling.NodePool)) *scheduling.NodePool {
	p := pool(change...)
	p.Spec.Template.Spec.Requirements[0].Values = []string{"on-demand"}
	return p
}

func wants(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}

func keepsApart(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}}}
}

func waiting(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }

func TestConsolidation(t *testing.T) {
	prefers := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m.large"}}}}},
		}}}
	}
	web := labelled("app", "web")
	inZone := func(zone string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = zone }
	}
	spread := func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
	}
	foreign := func(n *corev1.Node) { delete(n.Labels, scheduling.NodePoolLabel) }
	for name, tc := range map[string]struct {
		planner Planner
		nodes   []*corev1.Node
		pods    []*corev1.Pod
		waiting []*corev1.Pod
		want    []string
	}{
		"D3 pods that fit elsewhere: the node is deleted": {
			nodes: []*corev1.Node{machine(t, "a", "m.large", od), machine(t, "b", "m.large", od)},
			pods:  []*corev1.Pod{pod("x", "a", "1"), pod("y", "b", "500m"), pod("z", "b", "200m"), pod("w", "a", "300m")}, want: []string{"underutilized"},
		},
		"D3 D52 a cheaper machine takes its place": {
			nodes: []*corev1.Node{machine(t, "n", "m.large", od)}, pods: []*corev1.Pod{pod("x", "n", "900m")}, want: []string{"underutilized n +m.small/on-demand x>default-1"},
		},
		"D3 what is right stays": {
			nodes: []*corev1.Node{machine(t, "n", "m.small", od)}, pods: []*corev1.Pod{pod("x", "n", "900m")},
		},
		"D46 who waits for ever does not hold others": {
			nodes: []*corev1.Node{machine(t, "n", "m.large", od)}, pods: []*corev1.Pod{pod("x", "n", "900m")},
			waiting: []*corev1.Pod{pod("lost", "", "1", waiting, wants("disk", "gone"))}, want: []string{"underutilized n +m.small/on-demand x>default-1"},
		},
		"D46 who waits may take the room": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.large", od)}, pods: []*corev1.Pod{pod("x", "a", "900m"), pod("y", "b", "1")},
			waiting: []*corev1.Pod{pod("next", "", "900m", waiting, wants(corev1.LabelHostname, "b"))},
		},
		"D44 so may who leaves a node that goes already": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.large", od), machine(t, "going", "m.small", od, deleting)},
			pods:  []*corev1.Pod{pod("x", "a", "900m"), pod("y", "b", "1"), pod("next", "going", "900m", wants(corev1.LabelInstanceTypeStable, "m.large"))},
		},
		"D47 nodes that start up take nobody in": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "new", "m.large", od, uninitialized)}, pods: []*corev1.Pod{pod("x", "a", "900m"), pod("y", "new", "500m")},
		},
		"D48 nodes of nobody do": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "own", "m.large", od, foreign)}, pods: []*corev1.Pod{pod("x", "a", "900m")}, want: []string{"underutilized a x>own"},
		},
		"D49 who keeps apart still does": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.small", od)}, pods: []*corev1.Pod{pod("x", "a", "400m", web, keepsApart), pod("y", "b", "400m", web, keepsApart)},
		},
		"D49 and who does not may come together": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.small", od)}, pods: []*corev1.Pod{pod("x", "a", "400m", web), pod("y", "b", "300m", web)}, want: []string{"underutilized"},
		},
		"P95 a zone counts for spread beyond its last node": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.small", od, inZone("b"))}, pods: []*corev1.Pod{pod("x", "a", "400m", web, spread), pod("y", "b", "400m", web, spread)},
		},
		"P95 unless skew allows that it has none": {
			nodes: []*corev1.Node{machine(t, "a", "m.small", od), machine(t, "b", "m.small", od, inZone("b"))}, pods: []*corev1.Pod{pod("x", "a", "400m", web, spread), pod("y", "b", "300m", web)}, want: []string{"underutilized"},
		},
		"D51 wishes hold a pod where it is": {
			nodes: []*corev1.Node{machine(t, "n", "m.large", od)}, pods: []*corev1.Pod{pod("x", "n", "900m", prefers)},
		},
		"D51 unless they are ignored": {
			planner: Planner{Policy: scheduling.Policy{Preferences: scheduling.PreferencesIgnore}},
			nodes:   []*corev1.Node{machine(t, "n", "m.large", od)}, pods: []*corev1.Pod{pod("x", "n", "900m", prefers)}, want: []string{"underutilized n +m.small/on-demand x>default-1"},
		},
		"D28 what is bought need not have been left alone": {
			nodes: []*corev1.Node{machine(t, "n", "m.large", od)}, pods: []*corev1.Pod{pod("x", "n", "900m")}, want: []string{"underutilized n +m.small/on-demand x>default-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := world(t, onDemand(consolidateAfter(time.Hour)), tc.nodes, tc.pods...)
			c.Pods = tc.waiting
			plan := planned(t, tc.planner, c)
			got := steps(plan)
			if len(tc.want) == 1 && tc.want[0] == "underutilized" {
				require.Len(t, got, 1)
				assert.Equal(t, Underutilized, plan.Steps[0].Reason)
				assert.Empty(t, plan.Steps[0].Launches)
				return
			}
			if tc.want == nil {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

// D1, D42: reasons come in their order, each step on what those before have left.
func TestOrderOfReasons(t *testing.T) {
	c := world(t, onDemand(), []*corev1.Node{
		machine(t, "a-cheap", "m.large", od), machine(t, "b-empty", "m.large", od), machine(t, "c-drifted", "m.xlarge", od),
		machine(t, "d-expired", "m.xlarge", od, func(n *corev1.Node) { n.CreationTimestamp.Time = noon().Add(-721 * time.Hour) }), machine(t, "e-taken", "m.xlarge", od),
	}, pod("a", "a-cheap", "900m"), pod("c", "c-drifted", "3500m"), pod("d", "d-expired", "3500m"), pod("e", "e-taken", "3500m"))
	c.Machines = []Machine{{Node: "e-taken", Interruption: &Interruption{}}, driftedMachine("c-drifted", 1)}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{
		"interrupted e-taken +m.xlarge/on-demand e>default-1", "expired d-expired +m.xlarge/on-demand d>default-2", "drifted c-drifted +m.xlarge/on-demand c>default-3",
		"empty b-empty", "underutilized a-cheap +m.small/on-demand a>default-4",
	}, steps(plan))
	for i, node := range []string{"a-cheap", "b-empty", "c-drifted", "d-expired", "e-taken"} {
		assert.Equal(t, node, plan.Nodes[i].Node)
		assert.Equal(t, Drain, plan.Nodes[i].Decision)
		assert.Equal(t, 5-i, plan.Nodes[i].Step)
		assert.Empty(t, plan.Nodes[i].Reasons)
	}
	s := plan.Summary
	assert.Equal(t, offerings.MustPrice("0.8"), s.PricePerHourBefore)
	assert.Equal(t, offerings.MustPrice("0.65"), s.PricePerHourAfter)
	assert.Equal(t, 5, s.NodesBefore)
	assert.Equal(t, 4, s.NodesAfter)
	assert.Equal(t, 4, s.PodsMoved)
	assert.Equal(t, 4, s.Launches)
	assert.InDelta(t, 9, s.DisruptionCost, 0)
	require.Len(t, s.Frontier, 5)
	assert.Equal(t, Point{Steps: 5, SavingPerHour: offerings.MustPrice("0.15"), PodsMoved: 4, DisruptionCost: 9}, s.Frontier[4])
	assert.Equal(t, Point{Steps: 1, PodsMoved: 1, DisruptionCost: 2}, s.Frontier[0])
}

// D45: a pod that asks to be left alone, on a node that drift may take all the same, is
// given a place like the others.
func TestPodsOfDriftedNodesHaveAPlace(t *testing.T) {
	c := world(t, onDemand(consolidateAfter(-1)), []*corev1.Node{machine(t, "n", "m.large", od)}, pod("x", "n", "1500m", annotated(eviction.DoNotDisrupt, "true")))
	m := driftedMachine("n", 1)
	m.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	c.Machines = []Machine{m}
	assert.Equal(t, []string{"drifted n +m.large/on-demand x>default-1"}, steps(planned(t, Planner{}, c)))
}

// D48: a pool that has nothing on sale keeps its nodes, and does not stop others.
func TestPoolsWithoutTypes(t *testing.T) {
	bare := pool(func(p *scheduling.NodePool) { p.Name = "bare" })
	c := world(t, onDemand(), []*corev1.Node{
		machine(t, "n", "m.large", od), machine(t, "stays", "m.large", od, func(n *corev1.Node) { n.Labels[scheduling.NodePoolLabel] = "bare" }),
	}, pod("x", "n", "900m", wants(scheduling.NodePoolLabel, "default")), pod("y", "stays", "1900m"))
	c.NodePools = append(c.NodePools, bare)
	c.PoolCatalogs = map[string]*instancetypes.Catalog{"bare": nil}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"underutilized n +m.small/on-demand x>default-1"}, steps(plan))
	assert.Equal(t, []CauseCode{CauseNoTypes}, causes(t, plan, "stays"))
}

// D82: in a Balanced pool each step is worth what it disrupts.
func TestBalancedPlans(t *testing.T) {
	dear := annotated(corev1.PodDeletionCost, "1207959552") // counts 10
	c := world(t, onDemand(func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidationPolicy = scheduling.Balanced }), []*corev1.Node{
		machine(t, "a", "m.large", od), machine(t, "b", "m.xlarge", od),
	}, pod("x", "a", "400m", dear), pod("x2", "a", "400m", dear), pod("y", "b", "900m"))
	plan := planned(t, Planner{}, c)
	for i := range plan.Steps {
		assert.GreaterOrEqual(t, plan.Steps[i].Score, 0.5)
	}
	assert.Equal(t, []string{"underutilized b y>a"}, steps(plan), "moving x would save little and cost much")
}

// Requirements of the pool hold for what takes the place of its nodes.
func TestReplacementsKeepToThePool(t *testing.T) {
	c := world(t, onDemand(func(p *scheduling.NodePool) {
		r := &p.Spec.Template.Spec.Requirements
		*r = append(*r, requirements.Selector{Key: corev1.LabelInstanceTypeStable, Operator: requirements.NotIn, Values: []string{"m.small"}})
	}), []*corev1.Node{machine(t, "n", "m.large", od)}, pod("x", "n", "900m"))
	plan := planned(t, Planner{}, c)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, []CauseCode{CauseNoSaving}, causes(t, plan, "n"))
}

// A node of which the price is a small share of a cluster that must stay is replaced all the same.
func TestASmallShareThatMayGoIsReplaced(t *testing.T) {
	nodes, pods := []*corev1.Node{machine(t, "wasteful", "m.xlarge", offerings.OnDemand)}, []*corev1.Pod{pod("web", "wasteful", "500m")}
	for i := range 60 {
		name := fmt.Sprintf("held-%02d", i)
		nodes = append(nodes, machine(t, name, "m.xlarge", offerings.OnDemand))
		pods = append(pods, pod("job-"+name, name, "3900m", func(p *corev1.Pod) { p.Annotations = map[string]string{eviction.DoNotDisrupt: "true"} }))
	}
	plan := planned(t, Planner{}, world(t, pool(), nodes, pods...))
	require.Equal(t, []string{"underutilized wasteful +m.small/spot web>default-1"}, steps(plan))
}
