package disruption_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// What lifting a cause is told to save is what a plan saves more once somebody has made the changes; where it was not
// tried, it is no more than was told.
func TestBlockedSavingsAreThoseOfThePlanWithoutTheCause(t *testing.T) {
	tried, untried, codes := 0, 0, map[disruption.CauseCode]int{}
	for seed := range soak.Cases(30) {
		c := st.RandomCluster(seed)
		p := anyPlanner(seed, &c)
		if seed%2 == 0 {
			c = st.Cluster(seed, st.ClusterOptions{Nodes: 6 + int(seed%5), PodsPerNode: 5, MaxCPU: 8, Catalog: ec2Types(t, "m6i,c6i"), Spot: true, PDBs: true, Spread: true, Various: true, Batches: 4})
		}
		c = obstructed(seed, c)
		if p.Policy.Effort = scheduling.EffortFast; seed%10 == 0 {
			p.Policy.Effort = scheduling.EffortDefault
		}
		p.KeepBarePods = seed%3 == 0
		plan, err := p.Plan(t.Context(), c)
		require.NoError(t, err, "seed %d", seed)
		blocked, err := p.Blocked(t.Context(), c, plan)
		require.NoError(t, err, "seed %d", seed)
		plan.Summary.Blocked = blocked
		for _, b := range blocked {
			require.True(t, b.PerHour > 0 || b.Nodes > 0, "seed %d: %s", seed, b.Code)
			q, changed, can := follow(t, p, c, &b)
			if !can {
				require.False(t, b.Tried, "seed %d: %s", seed, b.Code)
				continue
			}
			again, err := q.Plan(t.Context(), changed)
			require.NoError(t, err, "seed %d: %s", seed, b.Code)
			saved := costs(&plan.Summary) - costs(&again.Summary)
			if b.Tried {
				require.Equal(t, b.PerHour, saved, "seed %d: %s: %v", seed, b.Code, b.Changes)
				tried++
				codes[b.Code]++
			} else {
				require.LessOrEqual(t, saved, b.PerHour, "seed %d: %s: %v", seed, b.Code, b.Changes)
				untried++
			}
		}
	}
	t.Logf("%d causes tried, %d not: %v", tried, untried, codes)
	require.Positive(t, tried)
}

// A freeze by a budget with a schedule is never proposed to be lifted, and the other budgets of the pool stay as they are.
func TestBlockedSavingsOfAFreezeComeByWaiting(t *testing.T) {
	c := st.Cluster(1, st.ClusterOptions{Nodes: 10, Removed: 0.5})
	schedule, end := fmt.Sprintf("0 %d * * *", c.Now.UTC().Hour()), c.Now.UTC().Truncate(time.Hour).Add(time.Hour)
	for _, pool := range c.NodePools {
		pool.Spec.Disruption.Budgets = []scheduling.Budget{
			{Nodes: "2"}, {Nodes: "0", Schedule: &schedule, Duration: &metav1.Duration{Duration: time.Hour}, Reasons: []string{"Underutilized"}},
		}
	}
	p := disruption.Planner{}
	plan, err := p.Plan(t.Context(), c)
	require.NoError(t, err)
	blocked, err := p.Blocked(t.Context(), c, plan)
	require.NoError(t, err)
	i := slices.IndexFunc(blocked, func(b disruption.Blocked) bool { return b.Code == disruption.CausePoolBudget })
	require.GreaterOrEqual(t, i, 0)
	require.True(t, blocked[i].Tried)
	for _, change := range blocked[i].Changes {
		require.Equal(t, fmt.Sprintf(`wait until %s: the budget with schedule %q and nodes "0" is active now`, end.Format(time.RFC3339), schedule), change.To)
	}
	c.Now = end
	again, err := p.Plan(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, blocked[i].PerHour, costs(&plan.Summary)-costs(&again.Summary))
}

// obstructed is the cluster with some of what holds nodes.
func obstructed(seed uint64, c disruption.Cluster) disruption.Cluster {
	r := rand.New(rand.NewPCG(seed, 0x626c6f636b6564)) //nolint:gosec // a test
	oneIn := func(n int) bool { return r.IntN(n) == 0 }
	c.NodePools = slices.Clone(c.NodePools)
	for i, pool := range c.NodePools {
		own := pool.DeepCopy()
		c.NodePools[i] = own
		d := &own.Spec.Disruption
		d.Budgets = []scheduling.Budget{{Nodes: []string{"10%", "1", "100%", "100%"}[r.IntN(4)]}}
		d.ConsolidationPolicy = []scheduling.ConsolidationPolicy{scheduling.WhenEmptyOrUnderutilized, scheduling.WhenEmptyOrUnderutilized, scheduling.WhenEmpty, scheduling.Balanced}[r.IntN(4)]
		if oneIn(5) {
			after := time.Duration(1+r.IntN(48)) * time.Hour
			d.ConsolidateAfter = []*scheduling.NillableDuration{{Duration: &after}, {}}[r.IntN(2)]
		}
	}
	asks := 4 + r.IntN(20)
	c.Running = slices.Clone(c.Running)
	for i, pod := range c.Running {
		if oneIn(asks) {
			c.Running[i] = pod.DeepCopy()
			c.Running[i].Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
		}
	}
	c.PodDisruptionBudgets = slices.Clone(c.PodDisruptionBudgets)
	for i, b := range c.PodDisruptionBudgets {
		own := b.DeepCopy()
		all := intstr.FromString("100%")
		switch r.IntN(4) {
		case 0:
			own.Spec.MaxUnavailable, own.Spec.MinAvailable, own.Status = nil, &all, policyv1.PodDisruptionBudgetStatus{}
		case 1:
			own.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: own.Generation, ExpectedPods: 3, CurrentHealthy: 2}
		}
		c.PodDisruptionBudgets[i] = own
		if oneIn(6) {
			again := own.DeepCopy()
			again.Name += "-again"
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, again)
		}
	}
	if oneIn(4) && len(c.NodePools) > 0 {
		c = c.KeepAtLeast(disruption.Planner{}, map[string]int{c.NodePools[0].Name: 2})
	}
	return c
}

// costs is what the cluster costs after the steps.
func costs(s *disruption.ConsolidationSummary) offerings.Price {
	return cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter)
}

// follow makes the changes that lift a cause, as somebody reads them. It reports false where there is nothing to change.
func follow(t *testing.T, p disruption.Planner, c disruption.Cluster, b *disruption.Blocked) (disruption.Planner, disruption.Cluster, bool) {
	t.Helper()
	switch b.Code {
	case disruption.CauseUnmanagedPod:
		p.KeepBarePods = false
	case disruption.CauseSmallSaving:
		p.MinSaving = disruption.Saving{}
	case disruption.CauseFewSpotTypes:
		p.SpotToSpotTypes = 1
	case disruption.CauseStepsLimit:
		p.MaxSteps = 0
	case disruption.CauseTooSoon:
		p.MinLifetime = 0
	case disruption.CauseMinNodes:
		c.Machines = slices.Clone(c.Machines)
		for i := range c.Machines {
			c.Machines[i].MustStay = ""
		}
	default:
		if len(b.Changes) == 0 {
			return p, c, false
		}
	}
	for _, change := range b.Changes {
		kind, name, _ := strings.Cut(change.Object, "/")
		switch kind {
		case "nodepool":
			c.NodePools = slices.Clone(c.NodePools)
			for i, pool := range c.NodePools {
				if pool.Name == name {
					c.NodePools[i] = pool.DeepCopy()
					changePool(t, c.NodePools[i], change.To)
				}
			}
		case "poddisruptionbudget":
			c.PodDisruptionBudgets = changeBudget(t, c.PodDisruptionBudgets, name, change.To)
		case "node":
			c.Nodes = slices.Clone(c.Nodes)
			for i, node := range c.Nodes {
				if node.Name == name {
					c.Nodes[i] = node.DeepCopy()
					delete(c.Nodes[i].Annotations, "karpenter.sh/do-not-disrupt")
				}
			}
		case "pod":
			_, key, _ := strings.Cut(change.To, "remove the annotation ")
			key, _, _ = strings.Cut(key, ":")
			for _, list := range []*[]*corev1.Pod{&c.Running, &c.Pods} {
				*list = slices.Clone(*list)
				for i, pod := range *list {
					if scheduling.PodName(pod) != name {
						continue
					}
					require.Contains(t, pod.Annotations, key)
					(*list)[i] = pod.DeepCopy()
					(*list)[i].Annotations = nil
				}
			}
		default:
			require.Fail(t, "unknown object", change.Object)
		}
	}
	return p, c, true
}

// changePool changes a NodePool.
func changePool(t *testing.T, pool *scheduling.NodePool, to string) {
	t.Helper()
	d := &pool.Spec.Disruption
	none := &scheduling.NillableDuration{Duration: new(time.Duration(0))}
	if rest, ok := strings.CutPrefix(to, "raise spec.disruption.budgets[0].nodes from "+d.Budgets[0].Nodes+" to "); ok {
		d.Budgets[0].Nodes = rest
		return
	}
	switch to {
	case "set spec.disruption.consolidationPolicy to WhenEmptyOrUnderutilized":
		d.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
	case "set spec.disruption.consolidateAfter to 0s":
		d.ConsolidateAfter = none
	case "set spec.disruption.consolidationPolicy to WhenEmptyOrUnderutilized, and spec.disruption.consolidateAfter to 0s":
		d.ConsolidationPolicy, d.ConsolidateAfter = scheduling.WhenEmptyOrUnderutilized, none
	case "leave minValues out of spec.template.spec.requirements":
		for i := range pool.Spec.Template.Spec.Requirements {
			pool.Spec.Template.Spec.Requirements[i].MinValues = nil
		}
	case "lower spec.replicas":
		pool.Spec.Replicas, pool.Spec.Limits = nil, corev1.ResourceList{corev1.ResourceCPU: {}} // nodes go as they are not needed
		pool.Spec.Disruption = scheduling.Disruption{ConsolidateAfter: none, Budgets: []scheduling.Budget{{Nodes: "100%"}}}
	default:
		require.Fail(t, "unknown change", to)
	}
}

// changeBudget changes one of some PodDisruptionBudgets.
func changeBudget(t *testing.T, list []*policyv1.PodDisruptionBudget, name, to string) (out []*policyv1.PodDisruptionBudget) {
	t.Helper()
	one, always := intstr.FromInt32(1), policyv1.AlwaysAllow
	for _, b := range list {
		if cmp.Or(b.Namespace, "default")+"/"+b.Name != name {
			out = append(out, b)
			continue
		}
		own := b.DeepCopy()
		switch strings.TrimSuffix(strings.TrimPrefix(to, "run 2 replicas, and "), " (with 1 replica: brief downtime)") {
		case "merge it into the other PodDisruptionBudget of its pods, because the eviction API supports one for each pod":
			continue
		case "repair the pods that are not ready, or set spec.unhealthyPodEvictionPolicy to AlwaysAllow":
			own.Spec.UnhealthyPodEvictionPolicy = &always
		case "set spec.maxUnavailable to 1":
			own.Spec.MaxUnavailable, own.Generation = &one, own.Status.ObservedGeneration+1
		case "replace spec.minAvailable by maxUnavailable: 1":
			own.Spec.MinAvailable, own.Spec.MaxUnavailable, own.Generation = nil, &one, own.Status.ObservedGeneration+1
		default:
			require.Fail(t, "unknown change", to)
		}
		out = append(out, own)
	}
	return out
}
