package disruption

import (
	"strings"
	"testing"
	"time"

	"github.com/samber/lo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// The annotations and kinds of drift, by Karpenter's names.
const (
	poolHash            = "karpenter.sh/nodepool-hash"
	poolHashVersion     = "karpenter.sh/nodepool-hash-version"
	poolDrifted         = "NodePoolDrifted"
	requirementsDrifted = "RequirementsDrifted"
	typeNotFound        = "InstanceTypeNotFound"
)

func TestDrift(t *testing.T) {
	hashes := func(pool, machine map[string]string) (func(*scheduling.NodePool), Machine) {
		return func(p *scheduling.NodePool) { p.Annotations = pool }, Machine{Annotations: machine}
	}
	one := map[string]string{poolHash: "1", poolHashVersion: "v3"}
	two := map[string]string{poolHash: "2", poolHashVersion: "v3"}
	newer := map[string]string{poolHash: "2", poolHashVersion: "v4"}
	unversioned := map[string]string{poolHash: "2"}
	needs := func(key string, op requirements.Operator, values ...string) func(*scheduling.NodePool) {
		return func(p *scheduling.NodePool) {
			r := &p.Spec.Template.Spec.Requirements
			*r = append(*r, requirements.Selector{Key: key, Operator: op, Values: values})
		}
	}
	label := func(key, value string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Labels[key] = value }
	}
	type test struct {
		pool    func(*scheduling.NodePool)
		machine Machine
		node    func(*corev1.Node)
		want    string
	}
	byHash := func(pool, machine map[string]string, want string) test {
		p, m := hashes(pool, machine)
		return test{pool: p, machine: m, want: want}
	}
	both := byHash(two, one, poolDrifted)
	both.machine.Drift = "AMIDrift"
	overruled := test{machine: Machine{Drift: "AMIDrift"}, pool: needs("team", requirements.In, "a"), want: requirementsDrifted}
	for name, tc := range map[string]test{
		"D85 nothing has changed":                    byHash(one, one, ""),
		"D85 the hash differs":                       byHash(one, two, poolDrifted),
		"D85 in different versions it tells nothing": byHash(one, newer, ""),
		"D85 without a version neither":              byHash(one, unversioned, ""),
		"D85 nor without anything on the pool":       byHash(nil, two, ""),
		"D85 nor without anything on the machine":    byHash(one, nil, ""),
		"D85 the pool comes before the provider":     both,
		"D85 the annotations of the node will do":    {pool: func(p *scheduling.NodePool) { p.Annotations = one }, node: func(n *corev1.Node) { n.Annotations = two }, want: poolDrifted},
		"D86 budgets and limits are not in the hash": {pool: func(p *scheduling.NodePool) { p.Annotations = one; p.Spec.Limits = corev1.ResourceList{} }, machine: Machine{Annotations: one}},
		"D85 a requirement that the node has not":    {pool: needs("team", requirements.In, "a"), want: requirementsDrifted},
		"D85 one that it has":                        {pool: needs("team", requirements.In, "a"), node: label("team", "a")},
		"D85 another value":                          {pool: needs("team", requirements.In, "a"), node: label("team", "b"), want: requirementsDrifted},
		"D85 one that it must not have":              {pool: needs("team", requirements.DoesNotExist), node: label("team", "b"), want: requirementsDrifted},
		"D85 another zone":                           {pool: needs(corev1.LabelTopologyZone, requirements.NotIn, "a"), want: requirementsDrifted},
		"D85 requirements come before the provider":  overruled,
		"D87 a type that is no more":                 {node: label(corev1.LabelInstanceTypeStable, "m.gone"), want: typeNotFound},
		"D87 no type":                                {node: func(n *corev1.Node) { delete(n.Labels, corev1.LabelInstanceTypeStable) }, want: typeNotFound},
		"D87 no offering in the zone":                {node: label(corev1.LabelTopologyZone, "z"), want: typeNotFound},
		"D87 one that is not on sale now will do": {node: func(n *corev1.Node) {
			label(corev1.LabelTopologyZone, "b")(n)
			label(offerings.CapacityTypeLabel, "spot")(n)
		}},
		"D87 not while it is young": {node: func(n *corev1.Node) {
			label(corev1.LabelInstanceTypeStable, "m.gone")(n)
			n.CreationTimestamp.Time = noon().Add(-time.Hour)
		}},
		"D87 nor where nobody knows how old it is": {node: func(n *corev1.Node) {
			label(corev1.LabelInstanceTypeStable, "m.gone")(n)
			n.CreationTimestamp = metav1.Time{}
		}},
		"D85 the provider's own reason":    {machine: Machine{Drift: "AMIDrift"}, want: "AMIDrift"},
		"D88 no pool, no drift":            {machine: Machine{Drift: "AMIDrift"}, node: label(scheduling.NodePoolLabel, "other")},
		"D88 no label of a pool, no drift": {machine: Machine{Drift: "AMIDrift"}, node: func(n *corev1.Node) { delete(n.Labels, scheduling.NodePoolLabel) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := oneNode(t, tc.pool, tc.node, tc.machine)
			assert.Equal(t, tc.want, driftKind(Planner{Now: noon(), LiveCatalog: true}, &c))
			if tc.want == typeNotFound {
				assert.Empty(t, driftKind(Planner{Now: noon()}, &c), "other catalogs may lack what is sold")
			}
		})
	}
}

// driftKind is the kind of drift of the node n.
func driftKind(p Planner, c *Cluster) string {
	kind, _, _ := strings.Cut(newState(p, c).byName["n"].drifted, ":")
	return strings.TrimSuffix(kind, " (its NodeClaim says so)")
}

// D87: a machine of a reservation may have become an on-demand one, whose label is stale.
func TestReservationsDoNotDrift(t *testing.T) {
	for zone, want := range map[string]string{"a": "", "b": "", "z": typeNotFound} {
		node := machine(t, "n", "m.large", od, func(n *corev1.Node) {
			n.Labels[offerings.CapacityTypeLabel], n.Labels[corev1.LabelTopologyZone], n.Labels[offerings.ReservationIDLabel] = "reserved", zone, "cr-old"
		})
		c := world(t, poolWithBudgets(), []*corev1.Node{node})
		assert.Equal(t, want, driftKind(Planner{Now: noon(), LiveCatalog: true}, &c), zone)
	}
}

// D87: that a catalog lacks what a node is says something about the node only where the
// catalog is live.
func TestAbsenceIsDriftOfLiveCatalogs(t *testing.T) {
	for name, relabel := range map[string]func(*corev1.Node){
		"type": func(n *corev1.Node) { n.Labels[corev1.LabelInstanceTypeStable] = "m.gone" },
		"zone": func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = "z" },
	} {
		c := world(t, pool(consolidateAfter(-1)), []*corev1.Node{machine(t, "n", "m.large", od, relabel)}, pod("x", "n", "1"))
		assert.Empty(t, planned(t, Planner{}, c).Steps, name)
		plan := planned(t, Planner{LiveCatalog: true}, c)
		assert.Len(t, plan.Steps, 1, name)
		assert.Equal(t, Drifted, plan.Steps[0].Reason, name)
		assert.Contains(t, plan.Nodes[0].Drift, "InstanceTypeNotFound: the catalog has no offering of "+instancetypes.OfferingOf(c.Nodes[0]).InstanceType+" as on-demand in zone ")
	}
}

// driftedMachine says that a node has drifted for so many hours.
func driftedMachine(node string, hours int) Machine {
	m := Machine{Node: node, Drift: "AMIDrift"}
	if hours > 0 {
		m.DriftedAt = noon().Add(-time.Duration(hours) * time.Hour)
	}
	return m
}

// D89: what is empty goes first, then what drifted first; each in a step of its own. D90:
// nobody asks what it costs.
func TestDriftOrder(t *testing.T) {
	c := world(t, pool(func(p *scheduling.NodePool) {
		consolidateAfter(-1)(p)
		p.Spec.Template.Spec.Requirements[0].Values = []string{"on-demand"}
	}), []*corev1.Node{machine(t, "late", "m.large", od), machine(t, "early", "m.large", od), machine(t, "unknown", "m.large", od), machine(t, "idle", "m.large", od)},
		pod("a", "late", "1800m"), pod("b", "early", "1800m"), pod("c", "unknown", "1800m"))
	c.Machines = []Machine{driftedMachine("late", 1), driftedMachine("early", 9), driftedMachine("unknown", 0), driftedMachine("idle", 2)}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{
		"drifted idle", "drifted early +m.large/on-demand b>default-1", "drifted late +m.large/on-demand a>default-2", "drifted unknown +m.large/on-demand c>default-3",
	}, steps(plan))
	assert.Zero(t, plan.Steps[1].SavingPerHour)
	assert.Equal(t, []PoolUse{{NodePool: "default", Nodes: 1, Allowed: 4}}, plan.Steps[0].NodePools)
}

// Where all nodes have drifted, machines are bought that hold the pods of all of them for the least, not one for each node.
func TestDriftOfAll(t *testing.T) {
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	for _, name := range []string{"a", "b", "c"} {
		nodes, pods = append(nodes, machine(t, name, "m.large", od)), append(pods, pod("pod-"+name, name, "1100m"))
	}
	c := world(t, pool(consolidateAfter(-1)), nodes, pods...)
	c.Machines = []Machine{driftedMachine("a", 3), driftedMachine("b", 2), driftedMachine("c", 1)}
	assert.Equal(t, []string{"drifted a +m.xlarge/spot pod-a>default-1", "drifted b pod-b>default-1", "drifted c pod-c>default-1"}, steps(planned(t, Planner{}, c)))
}

// D42: a node that is empty and has drifted goes as empty; where nothing is consolidated,
// as drifted.
func TestEmptyAndDrifted(t *testing.T) {
	for after, want := range map[time.Duration][]string{0: {"empty idle"}, -1: {"drifted idle"}} {
		c := world(t, pool(consolidateAfter(after)), []*corev1.Node{machine(t, "idle", "m.large", od)})
		c.Machines = []Machine{driftedMachine("idle", 1)}
		assert.Equal(t, want, steps(planned(t, Planner{}, c)))
	}
}

// D90: pods that need several machines get them; a node whose pods have no place stays, and
// the next one is looked at.
func TestDriftNeedsPlaces(t *testing.T) {
	big := machine(t, "big", "m.xlarge", od, func(n *corev1.Node) { // no type of the catalog is as large
		n.Status.Allocatable[corev1.ResourceCPU] = *quantity("8")
		n.Status.Capacity[corev1.ResourceCPU] = *quantity("8")
	})
	c := world(t, pool(consolidateAfter(-1)), []*corev1.Node{big, machine(t, "stuck", "m.large", od)},
		pod("a", "big", "3"), pod("b", "big", "3"), pod("huge", "stuck", "1", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "gone"} }))
	c.Machines = []Machine{driftedMachine("stuck", 9), driftedMachine("big", 1)}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"drifted big +m.xlarge/spot +m.xlarge/spot a>default-1 b>default-2"}, steps(plan))
	assert.Equal(t, CauseNoPlace, causes(t, plan, "stuck")[0])
}

// D38: drift needs room in the budget; steps come one after the other, so that each finds
// it anew. What budgets keep stays, and says so.
func TestDriftKeepsToBudgets(t *testing.T) {
	for nodes, want := range map[string]int{"1": 2, "50%": 2, "0": 0} {
		c := world(t, pool(consolidateAfter(-1), func(p *scheduling.NodePool) {
			p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: nodes, Reasons: []string{"Drifted"}}}
		}), []*corev1.Node{machine(t, "a", "m.large", od), machine(t, "b", "m.large", od)}, pod("x", "a", "1"), pod("y", "b", "1"))
		c.Machines = []Machine{driftedMachine("a", 1), driftedMachine("b", 2)}
		plan := planned(t, Planner{}, c)
		require.Len(t, plan.Steps, want, nodes)
		if want == 0 {
			assert.Equal(t, CausePoolBudget, causes(t, plan, "a")[0])
		}
	}
}

// D91: static pools are their own controller's affair.
func TestStaticDrift(t *testing.T) {
	c := world(t, pool(func(p *scheduling.NodePool) { p.Spec.Replicas = new(int64(1)) }), []*corev1.Node{machine(t, "n", "m.large", od)}, pod("x", "n", "1"))
	c.Machines = []Machine{driftedMachine("n", 1)}
	plan := planned(t, Planner{}, c)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, []CauseCode{CauseStatic}, causes(t, plan, "n"))
}

// Nodes that are about to be replaced take in nobody, so that no pod moves twice.
func TestNoPodMovesTwice(t *testing.T) {
	c := world(t, pool(consolidateAfter(-1)), []*corev1.Node{machine(t, "a", "m.large", od), machine(t, "b", "m.large", od), machine(t, "stays", "m.xlarge", od)},
		pod("x", "a", "1"), pod("y", "b", "1"), pod("z", "stays", "500m"))
	c.Machines = []Machine{driftedMachine("a", 2), driftedMachine("b", 1)}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"drifted a x>stays", "drifted b y>stays"}, steps(plan))
	assert.Contains(t, causes(t, plan, "stays"), CauseNeededForPods)
}

// A node that has taken in pods of a drifted one stays, so that a plan must not move pods to nodes that it would better
// do without.
func TestDriftDoesNotKeepANodeThatIsTooLarge(t *testing.T) {
	calm := func(p *scheduling.NodePool) {
		p.Spec.Template.Spec.Requirements[0].Values = []string{"on-demand"}
		p.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: lo.ToPtr(time.Minute)}
	}
	quiet := noon().Add(-24 * time.Hour)
	for _, drift := range []string{"", "AMIDrift"} {
		for _, placement := range []scheduling.PlacementPolicy{scheduling.PlacementFree, scheduling.PlacementPinned} {
			c := world(t, pool(calm), []*corev1.Node{machine(t, "one", "m.xlarge", offerings.OnDemand), machine(t, "two", "m.xlarge", offerings.OnDemand)},
				pod("web-1", "one", "600m", owned("apps/v1", "ReplicaSet")), pod("web-2", "two", "600m", owned("apps/v1", "ReplicaSet")))
			c.Machines = []Machine{{Node: "one", Initialized: quiet, LastPodEvent: quiet}, {Node: "two", Initialized: quiet, LastPodEvent: quiet, Drift: drift}}
			plan := planned(t, Planner{Policy: scheduling.Policy{Placement: placement}}, c)
			assert.Equal(t, offerings.MustPrice("0.1"), plan.Summary.PricePerHourAfter, "drift %q, placement %v: %v", drift, placement, steps(plan))
		}
	}
}
