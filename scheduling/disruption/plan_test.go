package disruption

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

// busy is a cluster in which something is to be done for every reason.
func busy(t testing.TB) Cluster {
	t.Helper()
	c := world(t, onDemand(), []*corev1.Node{
		machine(t, "a-cheap", "m.large", od), machine(t, "b-empty", "m.large", od), machine(t, "c-drifted", "m.xlarge", od),
		machine(t, "d-expired", "m.xlarge", od, func(n *corev1.Node) { n.CreationTimestamp.Time = noon().Add(-721 * time.Hour) }), machine(t, "e-taken", "m.xlarge", od),
		machine(t, "f-held", "m.large", od),
	}, pod("a", "a-cheap", "900m"), pod("c", "c-drifted", "3500m"), pod("d", "d-expired", "3500m"), pod("e", "e-taken", "3500m"), pod("f", "f-held", "1900m", annotated(eviction.DoNotDisrupt, "true")),
		pod("web-1", "c-drifted", "100m", labelled("app", "web")), pod("web-2", "d-expired", "100m", labelled("app", "web")))
	c.Machines = []Machine{{Node: "e-taken", Interruption: &Interruption{}}, driftedMachine("c-drifted", 1), {Node: "f-held"}}
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{guarding(1)}
	return c
}

func written(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

// The order of lists says nothing, and inputs stay as they were.
func TestPlansAreRepeatable(t *testing.T) {
	c := busy(t)
	want := written(t, planned(t, Planner{}, c))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		rng.Shuffle(len(c.Nodes), func(i, j int) { c.Nodes[i], c.Nodes[j] = c.Nodes[j], c.Nodes[i] })
		rng.Shuffle(len(c.Running), func(i, j int) { c.Running[i], c.Running[j] = c.Running[j], c.Running[i] })
		rng.Shuffle(len(c.Machines), func(i, j int) { c.Machines[i], c.Machines[j] = c.Machines[j], c.Machines[i] })
		before := written(t, []any{c.Problem.Nodes, c.Problem.Running, c.Problem.NodePools, c.Machines, c.PodDisruptionBudgets})
		assert.Equal(t, want, written(t, planned(t, Planner{}, c)))
		assert.Equal(t, before, written(t, []any{c.Problem.Nodes, c.Problem.Running, c.Problem.NodePools, c.Machines, c.PodDisruptionBudgets}))
	}
}

// Steps come as the plan has them, and whoever has enough stops.
func TestStepsAreThoseOfThePlan(t *testing.T) {
	c := busy(t)
	plan := planned(t, Planner{}, c)
	require.Greater(t, len(plan.Steps), 3)
	var got []Step
	for step, err := range (Planner{}).Steps(t.Context(), c) {
		require.NoError(t, err)
		got = append(got, step)
	}
	assert.Equal(t, written(t, plan.Steps), written(t, got))
	for want := range plan.Steps {
		n := 0
		for step, err := range (Planner{}).Steps(t.Context(), c) {
			require.NoError(t, err)
			require.Equal(t, plan.Steps[n].Drain, step.Drain)
			if n++; n == want+1 {
				break
			}
		}
		assert.Equal(t, want+1, n)
	}
}

// D64, D69: a deadline ends the search with what was found, and every node has its reason.
func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	c := busy(t)
	plan, err := Planner{}.Plan(ctx, c)
	require.NoError(t, err)
	assert.Equal(t, scheduling.StatusDeadline, plan.Summary.Status)
	require.Len(t, plan.Nodes, len(c.Nodes))
	for _, v := range plan.Nodes {
		if v.Decision == Keep {
			assert.NotEmpty(t, v.Reasons, v.Node)
		}
	}
	for step, err := range (Planner{}).Steps(ctx, c) {
		require.NoError(t, err)
		assert.NotEmpty(t, step.Drain)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan, err := Planner{}.Plan(ctx, busy(t))
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, plan)
	n := 0
	for step, err := range (Planner{}).Steps(ctx, busy(t)) {
		n++
		assert.Empty(t, step)
		require.ErrorIs(t, err, context.Canceled)
	}
	assert.Equal(t, 1, n)
}

// The planner's time counts before the problem's, and either will do.
func TestNow(t *testing.T) {
	c := world(t, onDemand(), []*corev1.Node{machine(t, "n", "m.small", od)}, pod("x", "n", "900m"))
	assert.Empty(t, planned(t, Planner{}, c).Steps)
	assert.NotEmpty(t, planned(t, Planner{Now: noon().Add(9999 * time.Hour)}, c).Steps, "it has expired by then")
	c.Now = time.Time{}
	assert.Empty(t, planned(t, Planner{Now: noon()}, c).Steps)
}

// Whatever holds nodes, they stay, and say why; nothing panics.
func TestNothingToBeDone(t *testing.T) {
	two := func() []*corev1.Node {
		return []*corev1.Node{machine(t, "a", "m.large", od), machine(t, "b", "m.large", od)}
	}
	pods := func(change ...func(*corev1.Pod)) []*corev1.Pod {
		return []*corev1.Pod{pod("x", "a", "500m", change...), pod("y", "b", "500m", change...)}
	}
	relabel := func(key, value string) []*corev1.Node {
		nodes := two()
		for _, n := range nodes {
			n.Labels[key] = value
		}
		return nodes
	}
	for name, tc := range map[string]struct {
		cluster func() Cluster
		want    CauseCode
	}{
		"budgets let nothing go": {func() Cluster {
			return world(t, onDemand(func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets[0].Nodes = "0" }), two(), pods()...)
		}, CausePoolBudget},
		"pods are guarded": {func() Cluster {
			c := world(t, onDemand(), two(), pods(labelled("app", "web"))...)
			c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{guarding(0)}
			return c
		}, CauseBudget},
		"pods ask to be left alone": {func() Cluster { return world(t, onDemand(), two(), pods(annotated(eviction.DoNotDisrupt, "true"))...) }, CauseDoNotDisrupt},
		"types are unknown": {func() Cluster {
			return world(t, onDemand(), relabel(corev1.LabelInstanceTypeStable, "m.unheard"), pods()...)
		}, CauseUnknownPrice},
		"zones are unknown": {func() Cluster { return world(t, onDemand(), relabel(corev1.LabelTopologyZone, "z"), pods()...) }, CauseUnknownPrice},
		"pools are unknown": {func() Cluster { return world(t, onDemand(), relabel(scheduling.NodePoolLabel, "other"), pods()...) }, CauseNoNodePool},
		"no pools":          {func() Cluster { c := world(t, onDemand(), two(), pods()...); c.NodePools = nil; return c }, CauseNoNodePool},
		"no catalog":        {func() Cluster { c := world(t, onDemand(), two(), pods()...); c.Catalog = nil; return c }, CauseNoTypes},
		"no labels": {func() Cluster {
			nodes := two()
			for _, n := range nodes {
				n.Labels = nil
			}
			return world(t, onDemand(), nodes, pods()...)
		}, CauseNoNodePool},
		"clocks are wrong": {func() Cluster {
			nodes := two()
			for _, n := range nodes {
				n.CreationTimestamp = metav1.Time{Time: noon().Add(time.Hour)}
			}
			return world(t, onDemand(consolidateAfter(0)), nodes, pods()...)
		}, CauseTooSoon},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.cluster()
			for _, v := range c.Nodes { // young enough for no type to be missed
				if v.CreationTimestamp.Time.Before(noon()) {
					v.CreationTimestamp = metav1.Time{Time: noon().Add(-time.Hour)}
				}
			}
			plan := planned(t, Planner{}, c)
			assert.Empty(t, plan.Steps)
			assert.Contains(t, causes(t, plan, "a"), tc.want)
			assert.Contains(t, causes(t, plan, "b"), tc.want)
			assert.Equal(t, "[]", written(t, plan.Steps))
			warnings := "[]"
			if c.Catalog == nil {
				warnings = `[{"object":"NodePool/default","message":"cannot launch nodes: its catalog has no offerings"}]`
			}
			assert.Equal(t, warnings, written(t, plan.Warnings))
		})
	}
	plan := planned(t, Planner{}, Cluster{Problem: scheduling.Problem{Now: noon()}})
	assert.Empty(t, plan.Nodes)
	assert.Equal(t, "[]", written(t, plan.Nodes))
	assert.Zero(t, plan.Summary.PricePerHourBefore)
}

// A planner that is to do nothing but one thing does nothing else, and says so.
func TestReasonsThatAreNotMeant(t *testing.T) {
	for _, reason := range []Reason{Interrupted, Expired, Drifted, Empty, Underutilized} {
		plan := planned(t, onlyFor(reason), busy(t))
		require.NotEmpty(t, plan.Steps, reason)
		for i := range plan.Steps {
			assert.Equal(t, reason, plan.Steps[i].Reason)
		}
		if reason != Underutilized {
			assert.Contains(t, causes(t, plan, "a-cheap"), CauseReasonNotSelected)
		}
	}
}

// Odd costs make odd scores, but none that cannot be written.
func TestOddCosts(t *testing.T) {
	for i, p := range []Planner{
		{NodeCost: 1e-300}, {NodeCost: 1e300}, {PodCost: func(*corev1.Pod) float64 { return 1e300 }},
		{MinSaving: Saving{PerHour: offerings.MaxPrice}}, {MinSaving: Saving{PerMonth: offerings.MaxPrice}}, {MinSaving: Saving{Share: 1}}, {BalancedK: 1e-300}, {BalancedK: 1e300},
	} {
		p.Policy.Effort = scheduling.EffortFast
		c := busy(t)
		if i%2 == 0 {
			c.NodePools[0].Spec.Disruption.ConsolidationPolicy = scheduling.Balanced
		}
		assert.NotEmpty(t, written(t, planned(t, p, c)))
	}
}
