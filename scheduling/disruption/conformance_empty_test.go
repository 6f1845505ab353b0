package disruption

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

// D40: all nodes that are empty go in one step, without any what-if.
func TestAllEmptyNodesGoAtOnce(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "a", "m.large", od), machine(t, "b", "m.xlarge", offerings.Spot), machine(t, "c", "m.small", od), machine(t, "used", "m.small", offerings.Spot)},
		pod("web", "used", "500m"), pod("log", "a", "100m", owned("apps/v1", "DaemonSet")))
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"empty a,b,c"}, steps(plan))
	assert.Equal(t, offerings.MustPrice("0.23"), plan.Steps[0].SavingPerHour)
	assert.InDelta(t, 3, plan.Steps[0].DisruptionCost, 0)
	assert.NotNil(t, plan.Steps[0].Launches)
	assert.NotNil(t, plan.Steps[0].Evictions)
}

func TestWhatIsEmpty(t *testing.T) {
	with := func(change ...func(*corev1.Pod)) []*corev1.Pod { return []*corev1.Pod{pod("p", "n", "1", change...)} }
	cheap := annotated(corev1.PodDeletionCost, "-2147483647")
	for name, tc := range map[string]struct {
		pods  []*corev1.Pod
		empty bool
	}{
		"D41 nothing there": {nil, true},
		"D41 a daemon":      {with(owned("apps/v1", "DaemonSet")), true},
		"D41 a pod of a Deployment that is being deleted": {with(owned("apps/v1", "ReplicaSet"), leavingPod), true},
		"D41 one of a StatefulSet comes back":             {with(owned("apps/v1", "StatefulSet"), leavingPod), false},
		"D41 what has ended":                              {with(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), true},
		"D41 a pod":                                       {with(), false},
		"D19 a pod that counts nothing is still a pod":    {with(cheap), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od)}, tc.pods...)
			plan := planned(t, onlyFor(Empty), c)
			if tc.empty {
				assert.Equal(t, []string{"empty n"}, steps(plan))
			} else {
				assert.Empty(t, plan.Steps)
			}
		})
	}
}

// D38: a step takes as many as the budget lets go, the dearest first; the next step finds the
// budget of what is left.
func TestEmptyKeepsToBudgets(t *testing.T) {
	var nodes []*corev1.Node
	for i := range 4 {
		nodes = append(nodes, machine(t, fmt.Sprintf("small-%d", i), "m.small", od), machine(t, fmt.Sprintf("large-%d", i), "m.large", od))
	}
	c := world(t, pool(func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets[0].Nodes = "50%" }), nodes)
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{
		"empty large-0,large-1,large-2,large-3", "empty small-0,small-1", "empty small-2", "empty small-3",
	}, steps(plan))
	assert.Equal(t, []PoolUse{{NodePool: "default", Nodes: 4, Allowed: 4}}, plan.Steps[0].NodePools)
	assert.Equal(t, []PoolUse{{NodePool: "default", Nodes: 2, Allowed: 2}}, plan.Steps[1].NodePools)

	c = world(t, pool(func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets[0].Nodes = "0" }), nodes)
	plan = planned(t, Planner{}, c)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, CausePoolBudget, causes(t, plan, "small-1")[0])
}

// D46: a node that pods wait for is not empty for long.
func TestPodsThatWaitKeepTheirPlace(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "idle", "m.large", od), machine(t, "small", "m.small", od)})
	c.Pods = []*corev1.Pod{pod("next", "", "1800m", func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} })}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"empty small"}, steps(plan))
	assert.Contains(t, causes(t, plan, "idle"), CauseNominated)
}

// D8: what a node costs, or is, need not be known to remove it when it is empty. D27: to
// save, it does.
func TestUnknownNodes(t *testing.T) {
	odd := func(n *corev1.Node) {
		n.Labels[corev1.LabelInstanceTypeStable] = "m.unheard"
		n.CreationTimestamp.Time = noon()
	}
	c := world(t, pool(), []*corev1.Node{machine(t, "idle", "m.large", od, odd), machine(t, "used", "m.large", od, odd)}, pod("web", "used", "1"))
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"empty idle"}, steps(plan))
	assert.Zero(t, plan.Steps[0].SavingPerHour)
	assert.Equal(t, []CauseCode{CauseUnknownPrice}, causes(t, plan, "used"))
	assert.Equal(t, 2, plan.Summary.UnpricedNodes)
	assert.Zero(t, plan.Summary.NodesBefore)
}

// D23: with consolidateAfter Never nothing goes for being empty.
func TestNeverConsolidate(t *testing.T) {
	c := world(t, pool(consolidateAfter(-1)), []*corev1.Node{machine(t, "n", "m.large", od)})
	plan := planned(t, Planner{}, c)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, []CauseCode{CausePolicy}, causes(t, plan, "n"))
}

// D92's sibling: machines that are taken away go at once, whatever stands in their way, and
// pods without a place are told of.
func TestInterrupted(t *testing.T) {
	c := world(t, pool(func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets[0].Nodes = "0" }),
		[]*corev1.Node{machine(t, "a", "m.large", offerings.Spot, nodeAnnotated(eviction.DoNotDisrupt, "true")), machine(t, "b", "m.large", offerings.Spot), machine(t, "stays", "m.small", offerings.Spot)},
		pod("x", "a", "1500m", annotated(eviction.DoNotDisrupt, "true")), pod("y", "b", "1500m"), pod("lost", "b", "100m", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "gone"} }),
		pod("z", "stays", "900m"))
	soon := &Interruption{At: noon().Add(2 * time.Minute), Kind: "spot"}
	c.Machines = []Machine{{Node: "a", Interruption: soon}, {Node: "b", Interruption: soon}}
	plan := planned(t, Planner{}, c)
	assert.Len(t, plan.Steps, 1)
	assert.Equal(t, Interrupted, plan.Steps[0].Reason)
	assert.Equal(t, []string{"a", "b"}, plan.Steps[0].Drain)
	var places []string
	for _, e := range plan.Steps[0].Evictions {
		places = append(places, e.Pod+">"+e.To)
	}
	assert.Contains(t, places, "shop/lost>")
	assert.Len(t, places, 3)
	assert.Len(t, plan.Warnings, 1)
	assert.Equal(t, "shop/lost", plan.Warnings[0].Object)
	assert.Empty(t, plan.Steps[0].NodePools)
}

// An expired node whose pods have nowhere to go stays, and the plan warns of it.
func TestExpiredAndStuck(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "old", "m.large", od, func(n *corev1.Node) { n.CreationTimestamp.Time = noon().Add(-9999 * time.Hour) })},
		pod("x", "old", "1", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "gone"} }))
	plan := planned(t, Planner{}, c)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, CauseNoPlace, causes(t, plan, "old")[0])
	assert.Len(t, plan.Warnings, 1)
	assert.Equal(t, "node/old", plan.Warnings[0].Object)
}
