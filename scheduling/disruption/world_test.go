package disruption

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// testCatalog sells m.small, m.large and m.xlarge with 1, 2 and 4 CPUs.
func testCatalog(t testing.TB) *instancetypes.Catalog {
	t.Helper()
	offer := func(zone string, by offerings.CapacityType, price string) offerings.Offering {
		return offerings.Offering{Zone: zone, CapacityType: by, Price: offerings.MustPrice(price)}
	}
	reserved := func(id, price string) offerings.Offering {
		return offerings.Offering{Zone: "a", CapacityType: offerings.Reserved, Price: offerings.MustPrice(price), ReservationID: id, ReservationCount: 1}
	}
	sold := func(name, cpu string, list ...offerings.Offering) *instancetypes.InstanceType {
		return &instancetypes.InstanceType{Name: name, Offerings: list, Capacity: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}}
	}
	gone := offer("b", offerings.Spot, "0.04")
	gone.Unavailable = true
	catalog, err := instancetypes.NewCatalog(
		sold("m.small", "1", offer("a", offerings.OnDemand, "0.05"), offer("b", offerings.OnDemand, "0.055"), offer("a", offerings.Spot, "0.02")),
		sold("m.large", "2", offer("a", offerings.OnDemand, "0.1"), offer("b", offerings.OnDemand, "0.11"), offer("a", offerings.Spot, "0.03"), gone,
			reserved("cr-1", "0.001"), reserved("cr-2", "0.002")),
		sold("m.xlarge", "4", offer("a", offerings.OnDemand, "0.2"), offer("a", offerings.Spot, "0.08")),
	)
	require.NoError(t, err)
	return catalog
}

// pool is a NodePool called default that may buy what is not reserved, with room in its
// budgets.
func pool(change ...func(*scheduling.NodePool)) *scheduling.NodePool {
	p := poolWithBudgets(scheduling.Budget{Nodes: "100%"})
	p.Spec.Template.Spec.Requirements = []requirements.Selector{{Key: offerings.CapacityTypeLabel, Operator: requirements.In, Values: []string{"spot", "on-demand"}}}
	for _, c := range change {
		c(p)
	}
	return p
}

// machine is a node of the pool default of a type, in zone a, as it comes from the catalog.
func machine(t testing.TB, name, instanceType string, by offerings.CapacityType, change ...func(*corev1.Node)) *corev1.Node {
	t.Helper()
	catalog := testCatalog(t)
	l := scheduling.Launch{Name: name, NodePool: "default", Labels: map[string]string{}}
	node, err := l.Node(name, &scheduling.LaunchOption{InstanceType: instanceType, Zone: "a", CapacityType: by}, catalog)
	require.NoError(t, err)
	node.CreationTimestamp = metav1.Time{Time: noon().Add(-48 * time.Hour)}
	for _, c := range change {
		c(node)
	}
	return node
}

// pod runs on a node and asks for CPU.
func pod(name, node, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}, Spec: corev1.PodSpec{NodeName: node}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.StartTime = &metav1.Time{Time: noon().Add(-24 * time.Hour)}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, c := range change {
		c(p)
	}
	return p
}

// world is a cluster of the pool default at noon.
func world(t testing.TB, p *scheduling.NodePool, nodes []*corev1.Node, pods ...*corev1.Pod) Cluster {
	t.Helper()
	return Cluster{Problem: scheduling.Problem{NodePools: []*scheduling.NodePool{p}, Catalog: testCatalog(t), Nodes: nodes, Running: pods, Now: noon()}}
}

// planned is the plan of a cluster.
func planned(t testing.TB, p Planner, c Cluster) *ConsolidationPlan {
	t.Helper()
	plan, err := p.Plan(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, plan.Nodes, len(c.Nodes))
	for _, v := range plan.Nodes {
		if v.Decision == Keep {
			require.NotEmpty(t, v.Reasons, "%s stays for a reason", v.Node)
			require.NotEmpty(t, v.Reasons[0].Detail)
		}
	}
	return plan
}

// steps writes the steps of a plan in short: reason, nodes, what is bought, who moves where.
func steps(plan *ConsolidationPlan) []string {
	out := []string{}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		text := string(s.Reason) + " " + strings.Join(s.Drain, ",")
		for j := range s.Launches {
			text += " +" + s.Launches[j].Options[0].InstanceType + "/" + string(s.Launches[j].Options[0].CapacityType)
		}
		for _, e := range s.Evictions {
			text += " " + strings.TrimPrefix(e.Pod, "shop/") + ">" + e.To
		}
		out = append(out, text)
	}
	return out
}

// causes are why a node stays.
func causes(t testing.TB, plan *ConsolidationPlan, node string) []CauseCode {
	t.Helper()
	for _, v := range plan.Nodes {
		if v.Node == node {
			var out []CauseCode
			for _, c := range v.Reasons {
				out = append(out, c.Code)
			}
			return out
		}
	}
	require.Fail(t, "no verdict", node)
	return nil
}

func leavingPod(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon()} }

func quantity(s string) *resource.Quantity { q := resource.MustParse(s); return &q }

// oneNode is a cluster of one machine of a pool, changed if there is a change, and of what is
// told of it.
func oneNode(t testing.TB, changePool func(*scheduling.NodePool), changeNode func(*corev1.Node), told Machine) Cluster {
	t.Helper()
	p, node := pool(), machine(t, "n", "m.large", offerings.OnDemand)
	if changePool != nil {
		changePool(p)
	}
	if changeNode != nil {
		changeNode(node)
	}
	c := world(t, p, []*corev1.Node{node})
	told.Node = node.Name
	c.Machines = []Machine{told}
	return c
}
