package verify_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// stepsCase is a cluster with a plan for it, and the settings under which it was made.
type stepsCase struct {
	planner disruption.Planner
	cluster disruption.Cluster
	plan    *disruption.ConsolidationPlan
}

// check judges the plan by the settings.
func (c *stepsCase) check() error {
	return verify.StepsChecker{Planner: c.planner}.Steps(c.cluster, c.plan)
}

func (c *stepsCase) node(name string) *corev1.Node {
	i := slices.IndexFunc(c.cluster.Nodes, func(n *corev1.Node) bool { return n.Name == name })
	return c.cluster.Nodes[i]
}

func (c *stepsCase) pod(name string) *corev1.Pod {
	i := slices.IndexFunc(c.cluster.Running, func(p *corev1.Pod) bool { return p.Name == name })
	return c.cluster.Running[i]
}

func (c *stepsCase) pool() *scheduling.NodePool { return c.cluster.NodePools[0] }

func (c *stepsCase) machine(name string) *disruption.Machine {
	for i := range c.cluster.Machines {
		if c.cluster.Machines[i].Node == name {
			return &c.cluster.Machines[i]
		}
	}
	c.cluster.Machines = append(c.cluster.Machines, disruption.Machine{Node: name})
	return &c.cluster.Machines[len(c.cluster.Machines)-1]
}

// newStepsCase is a cluster of five nodes with a valid plan. The node idle is empty. The node left has two web pods, of
// which a PodDisruptionBudget lets one at a time be away, and busy has room for both. The node big has one pod that a
// smaller machine holds. The node own belongs to no pool.
func newStepsCase(t *testing.T) *stepsCase {
	t.Helper()
	large := st.Type("m.large", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(20)), st.OnDemand("b", st.Cents(20)), st.Spot("a", st.Cents(7)))
	small := st.Type("c.small", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", st.Cents(8)), st.OnDemand("b", st.Cents(9)))
	bought := []st.NodeOption{st.OfPool("default"), st.OfType(large, large.Offerings[slices.IndexFunc(large.Offerings, isOnDemand)])}
	now := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	pool := st.NodePool("default", st.Where(st.In(offerings.CapacityTypeLabel, "on-demand")))
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	web := st.Label("app", "web")
	budget := st.DisruptionBudget("web", map[string]string{"app": "web"}, intstr.FromInt32(1))
	c := &stepsCase{cluster: disruption.Cluster{
		Problem: scheduling.Problem{
			Now: now, Catalog: st.MustCatalog(large, small), NodePools: []*scheduling.NodePool{pool},
			Nodes: []*corev1.Node{
				st.Node("big", bought...), st.Node("busy", bought...), st.Node("idle", bought...), st.Node("left", bought...),
				st.Node("own", st.Allocatable(st.Cores(1), st.GiB(4)), st.Label(corev1.LabelTopologyZone, "a")),
			},
			Running: []*corev1.Pod{
				st.Pod("web-1", st.OnNode("left"), web, st.Requests(st.Cores(1), st.GiB(1))),
				st.Pod("web-2", st.OnNode("left"), web, st.Requests(st.Cores(1), st.GiB(1))),
				st.Pod("api", st.OnNode("busy"), st.Requests(st.Cores(1), st.GiB(1))),
				st.Pod("db", st.OnNode("big"), st.Requests(st.MilliCPU(1500), st.GiB(1))),
			},
		},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budget},
	}}
	for _, node := range c.cluster.Nodes[:4] {
		created := now.Add(-100 * time.Hour)
		c.cluster.Machines = append(c.cluster.Machines, disruption.Machine{Node: node.Name, Created: created, Initialized: created, LastPodEvent: now.Add(-time.Hour)})
	}
	c.plan = &disruption.ConsolidationPlan{
		Steps: []disruption.Step{
			{
				Reason: disruption.Empty, Drain: []string{"idle"}, SavingPerHour: st.Cents(20), DisruptionCost: 1, Score: 2,
				NodePools: []disruption.PoolUse{{NodePool: "default", Nodes: 1, Allowed: 4}},
			},
			{
				Reason: disruption.Underutilized, Drain: []string{"left"}, SavingPerHour: st.Cents(20), DisruptionCost: 3, Score: 1.0 / 3 / (3.0 / 7),
				Evictions: []disruption.Eviction{
					{Pod: "default/web-1", From: "left", To: "busy", Wave: 1},
					{Pod: "default/web-2", From: "left", To: "busy", Wave: 2},
				},
				NodePools:            []disruption.PoolUse{{NodePool: "default", Nodes: 1, Allowed: 3}},
				PodDisruptionBudgets: []disruption.BudgetUse{{Budget: "default/web", Pods: 1, Allowed: 1}},
				Risks:                barePodRisks("web-1", "web-2"),
			},
			{
				Reason: disruption.Underutilized, Drain: []string{"big"}, SavingPerHour: st.Cents(12), DisruptionCost: 2, Score: 0.9,
				Launches:  c.launches(t, "db"),
				Evictions: []disruption.Eviction{{Pod: "default/db", From: "big", To: "default-1", Wave: 1}},
				NodePools: []disruption.PoolUse{{NodePool: "default", Nodes: 1, Allowed: 2}},
				Risks:     barePodRisks("db"),
			},
		},
		Summary: disruption.ConsolidationSummary{
			PricePerHourBefore: st.Cents(80), PricePerHourAfter: st.Cents(28), NodesBefore: 4, NodesAfter: 2, PodsMoved: 3, Launches: 1,
			DisruptionCost: 6, Status: scheduling.StatusComplete,
			Frontier: []disruption.Point{
				{Steps: 1, SavingPerHour: st.Cents(20), DisruptionCost: 1},
				{Steps: 2, SavingPerHour: st.Cents(40), PodsMoved: 2, DisruptionCost: 4},
				{Steps: 3, SavingPerHour: st.Cents(52), PodsMoved: 3, DisruptionCost: 6},
			},
		},
	}
	for i, name := range []string{"big", "busy", "idle", "left"} {
		v := disruption.Verdict{
			Node: name, Decision: disruption.Drain, Step: []int{3, 0, 1, 2}[i],
			NodePool: "default", InstanceType: "m.large", Zone: "a", CapacityType: "on-demand", PricePerHour: st.Cents(20),
		}
		if v.Step == 0 {
			v.Decision, v.Reasons = disruption.Keep, []disruption.Cause{{Code: disruption.CauseNeededForPods, Detail: "takes pods in"}}
		}
		c.plan.Nodes = append(c.plan.Nodes, v)
	}
	c.plan.Nodes = append(c.plan.Nodes, disruption.Verdict{
		Node: "own", Decision: disruption.Keep, Zone: "a", Reasons: []disruption.Cause{{Code: disruption.CauseNoNodePool, Detail: "no pool owns it"}},
	})
	return c
}

// launches returns the launches of the solver for running pods, with only the options that cost less than their node.
func (c *stepsCase) launches(t *testing.T, pods ...string) []scheduling.Launch {
	t.Helper()
	p := c.cluster.Problem
	p.Nodes, p.Running = nil, nil
	for _, name := range pods {
		pod := c.pod(name).DeepCopy()
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
		p.Pods = append(p.Pods, pod)
	}
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.Empty(t, plan.Unschedulable)
	// What does not save is no option.
	for i := range plan.Launches {
		l := &plan.Launches[i]
		l.Options = slices.DeleteFunc(l.Options, func(o scheduling.LaunchOption) bool { return o.Price >= st.Cents(20) })
	}
	return plan.Launches
}

// barePodRisks are the risks of a step that evicts pods without a controller.
func barePodRisks(pods ...string) (out []disruption.Risk) {
	for _, name := range pods {
		out = append(out, disruption.Risk{Code: disruption.RiskUnmanagedPod, Object: "pod/default/" + name, Detail: "has no controller"})
	}
	return out
}

// codesOf returns the codes of the violations of an error.
func codesOf(t *testing.T, err error) []verify.Code {
	t.Helper()
	if err == nil {
		return nil
	}
	var report *verify.Report
	require.ErrorAs(t, err, &report)
	var codes []verify.Code
	for _, v := range report.Violations {
		codes = append(codes, v.Code)
	}
	return codes
}
