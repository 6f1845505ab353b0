package verify_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func lasting(d time.Duration) *scheduling.NillableDuration {
	return &scheduling.NillableDuration{Duration: &d}
}

// stepsMutation makes a valid plan invalid, or changes the cluster so that the plan is not allowed, with the code that
// must be reported.
type stepsMutation struct {
	name string
	do   func(c *stepsCase)
	want verify.Code
}

func stepsMutations() []stepsMutation {
	return slices.Concat(stepMutations(), drainMutations(), budgetMutations(), evictionMutations(), worthMutations(), verdictMutations())
}

// TestStepsBound: the bound of a plan of the planner is proven, and each false statement about the bound is reported.
func TestStepsBound(t *testing.T) {
	c := st.Cluster(4, st.ClusterOptions{Nodes: 6})
	plan, err := disruption.Planner{}.Plan(context.Background(), c)
	require.NoError(t, err)
	require.NoError(t, verify.Steps(c, plan))
	s := &plan.Summary
	require.Positive(t, s.LowerBoundPerHour)
	right := *s
	for _, tc := range []struct {
		name string
		do   func()
		want verify.Code
	}{
		{"no certificate", func() { s.Certificate = nil }, verify.CodeCertificateMissing},
		{"an empty certificate", func() { s.Certificate = &certificate.Certificate{} }, verify.CodeCertificateMalformed},
		{"too much", func() { s.LowerBoundPerHour, s.PricePerHourAfter = s.PricePerHourBefore, s.PricePerHourBefore }, verify.CodeBoundUnproven},
		{"above the price", func() { s.LowerBoundPerHour = s.PricePerHourAfter + 1 }, verify.CodeBoundAbovePrice},
		{"nobody is left out", func() { s.LeftOut = []string{"default/nobody"} }, verify.CodePodUnknown},
		{"out of order", func() { s.LeftOut = []string{c.Running[1].Namespace + "/z", "default/a"} }, verify.CodeUnsorted},
		{"pods are left out", func() {
			for _, pod := range c.Running {
				s.LeftOut = append(s.LeftOut, pod.Namespace+"/"+pod.Name)
			}
			slices.Sort(s.LeftOut)
		}, verify.CodeBoundUnproven},
	} {
		*s = right
		tc.do()
		assert.Contains(t, codesOf(t, verify.Steps(c, plan)), tc.want, tc.name)
		assert.NotContains(t, codesOf(t, verify.StepsChecker{SkipBound: true}.Steps(c, plan)), verify.CodeBoundUnproven, tc.name)
	}
}

func TestStepsMutations(t *testing.T) {
	for _, tc := range stepsMutations() {
		t.Run(strings.ReplaceAll(tc.name, " ", "-"), func(t *testing.T) {
			c := newStepsCase(t)
			tc.do(c)
			err := c.check()
			require.Error(t, err)
			assert.Contains(t, codesOf(t, err), tc.want, "%v", err)
		})
	}
}

func stepMutations() []stepsMutation {
	return []stepsMutation{
		{"a step that does nothing", func(c *stepsCase) { c.plan.Steps[0].Drain = nil }, verify.CodeStepEmpty},
		{"moves without a node that goes", func(c *stepsCase) { c.plan.Steps[1].Drain = nil }, verify.CodeStepReason},
		{"an unknown reason", func(c *stepsCase) { c.plan.Steps[0].Reason = "bored" }, verify.CodeStepReason},
		{"a reason that is not meant", func(c *stepsCase) { c.planner.Reasons = []disruption.Reason{disruption.Empty} }, verify.CodeStepReason},
		{"misplaced without being asked", func(c *stepsCase) { c.plan.Steps[1].Reason, c.plan.Steps[1].Drain = disruption.Misplaced, nil }, verify.CodeStepReason},
		{"not interrupted", func(c *stepsCase) { c.plan.Steps[0].Reason = disruption.Interrupted }, verify.CodeStepReason},
		{"not expired", func(c *stepsCase) { c.plan.Steps[0].Reason = disruption.Expired }, verify.CodeStepReason},
		{"not drifted", func(c *stepsCase) { c.plan.Steps[0].Reason = disruption.Drifted }, verify.CodeStepReason},
		{"not empty", func(c *stepsCase) { c.plan.Steps[1].Reason = disruption.Empty }, verify.CodeStepReason},
		{"the order matters", func(c *stepsCase) { c.plan.Steps[0], c.plan.Steps[1] = c.plan.Steps[1], c.plan.Steps[0] }, verify.CodeStepScore},
	}
}

func drainMutations() []stepsMutation {
	const hour = time.Hour
	ask := map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	return []stepsMutation{
		{"a node that is not there", func(c *stepsCase) { c.plan.Steps[0].Drain = []string{"nobody"} }, verify.CodeNodeUnknown},
		{"a node that is gone already", func(c *stepsCase) { c.plan.Steps[1].Drain = []string{"left", "idle"} }, verify.CodeNodeUnknown},
		{"a node that is named twice", func(c *stepsCase) { c.plan.Steps[0].Drain = []string{"idle", "idle"} }, verify.CodeNodeDuplicated},
		{"a node that is being removed", func(c *stepsCase) { c.node("idle").Spec.Taints = taints(scheduling.DisruptedTaint) }, verify.CodeNodeLeaving},
		{"a machine that is shut down", func(c *stepsCase) { c.machine("idle").Terminating = true }, verify.CodeNodeLeaving},
		{"a node without a pool", func(c *stepsCase) { delete(c.node("idle").Labels, scheduling.NodePoolLabel) }, verify.CodeNotDisruptable},
		{"a node of a pool that is gone", func(c *stepsCase) { c.node("idle").Labels[scheduling.NodePoolLabel] = "gone" }, verify.CodeNotDisruptable},
		{"a node that must stay", func(c *stepsCase) { c.machine("idle").MustStay = "its group is small" }, verify.CodeNotDisruptable},
		{"a static pool", func(c *stepsCase) { c.pool().Spec.Replicas = new(int64) }, verify.CodeNotDisruptable},
		{"a node that starts", func(c *stepsCase) { delete(c.node("idle").Labels, scheduling.InitializedLabel) }, verify.CodeNotDisruptable},
		{"a node that awaits pods", func(c *stepsCase) { c.machine("idle").NominatedUntil = c.cluster.Now.Add(time.Second) }, verify.CodeNotDisruptable},
		{"a pool without types", func(c *stepsCase) {
			c.cluster.PoolCatalogs = map[string]*instancetypes.Catalog{"default": st.MustCatalog()}
		}, verify.CodeNotDisruptable},
		{"a price nobody knows", func(c *stepsCase) { c.node("left").Labels[corev1.LabelInstanceTypeStable] = "gone" }, verify.CodeNotDisruptable},
		{"a node that asks for doNotDisrupt", func(c *stepsCase) { c.node("idle").Annotations = ask }, verify.CodeDoNotDisrupt},
		{"a pod that asks for doNotDisrupt", func(c *stepsCase) { c.pod("web-2").Annotations = ask }, verify.CodeDoNotDisrupt},
		{"a pod that asks as it did of v1alpha5", func(c *stepsCase) {
			c.pod("web-2").Annotations = map[string]string{"karpenter.sh/do-not-evict": "true"}
		}, verify.CodeDoNotDisrupt},
		{"a pod that asks Cluster Autoscaler", func(c *stepsCase) {
			c.pod("web-2").Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
		}, verify.CodeDoNotDisrupt},
		{"a pod that asks for a while", func(c *stepsCase) {
			start := metav1.NewTime(c.cluster.Now.Add(-hour))
			c.pod("web-2").Annotations, c.pod("web-2").Status.StartTime = map[string]string{"karpenter.sh/do-not-disrupt": "61m"}, &start
		}, verify.CodeDoNotDisrupt},
		{"a daemon that asks for doNotDisrupt", func(c *stepsCase) {
			daemon := st.Pod("daemon", st.OnNode("left"), st.OwnedByDaemonSet("d"))
			daemon.Annotations = ask
			c.cluster.Running = append(c.cluster.Running, daemon)
		}, verify.CodeDoNotDisrupt},
		{"when empty only", func(c *stepsCase) { c.pool().Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmpty }, verify.CodePolicy},
		{"never", func(c *stepsCase) { c.pool().Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{} }, verify.CodePolicy},
		{"consolidateAfter", func(c *stepsCase) { c.pool().Spec.Disruption.ConsolidateAfter = lasting(hour + 1) }, verify.CodeTooSoon},
		{"a young node", func(c *stepsCase) { c.planner.MinLifetime = 101 * hour }, verify.CodeTooSoon},
	}
}

func budgetMutations() []stepsMutation {
	return []stepsMutation{
		{"no node may go", func(c *stepsCase) { c.pool().Spec.Disruption.Budgets[0].Nodes = "0" }, verify.CodeNodeBudget},
		{"nodes that do not work use budgets up", func(c *stepsCase) {
			c.pool().Spec.Disruption.Budgets[0].Nodes = "1"
			c.node("big").Status.Conditions[0].Status = corev1.ConditionFalse
		}, verify.CodeNodeBudget},
		{"a budget in force", func(c *stepsCase) { c.pool().Spec.Disruption.Budgets = scheduled("0", "30 11 * * mon", 31) }, verify.CodeNodeBudget},
		{"the use of a pool is not told", func(c *stepsCase) { c.plan.Steps[0].NodePools = nil }, verify.CodeBudgetUse},
		{"the use of a pool is told twice", func(c *stepsCase) {
			c.plan.Steps[0].NodePools = append(c.plan.Steps[0].NodePools, c.plan.Steps[0].NodePools[0])
		}, verify.CodeBudgetUse},
		{"fewer nodes are told", func(c *stepsCase) { c.plan.Steps[0].NodePools[0].Nodes = 0 }, verify.CodeBudgetUse},
		{"more nodes are allowed", func(c *stepsCase) { c.plan.Steps[0].NodePools[0].Allowed = 5 }, verify.CodeBudgetUse},
		{"the use of another pool", func(c *stepsCase) { c.plan.Steps[0].NodePools[0].NodePool = "other" }, verify.CodeBudgetUse},
		{"too many pods at once", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].Wave = 1 }, verify.CodePodBudget},
		{"no pod may go", func(c *stepsCase) { *c.cluster.PodDisruptionBudgets[0].Spec.MaxUnavailable = intstr.FromInt32(0) }, verify.CodePodBudget},
		{"the controller allows none", func(c *stepsCase) {
			c.cluster.PodDisruptionBudgets[0].Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: 2}
		}, verify.CodePodBudget},
		{"two budgets for a pod", func(c *stepsCase) {
			c.cluster.PodDisruptionBudgets = append(c.cluster.PodDisruptionBudgets, st.DisruptionBudget("all", nil, intstr.FromInt32(5)))
		}, verify.CodePodBudget},
		{"the use of a pod budget is not told", func(c *stepsCase) { c.plan.Steps[1].PodDisruptionBudgets = nil }, verify.CodeBudgetUse},
		{"fewer pods are told", func(c *stepsCase) { c.plan.Steps[1].PodDisruptionBudgets[0].Pods = 0 }, verify.CodeBudgetUse},
		{"more pods are allowed", func(c *stepsCase) { c.plan.Steps[1].PodDisruptionBudgets[0].Allowed = 2 }, verify.CodeBudgetUse},
		{"a budget that is not there", func(c *stepsCase) { c.plan.Steps[1].PodDisruptionBudgets[0].Budget = "default/none" }, verify.CodeBudgetUse},
	}
}

func evictionMutations() []stepsMutation {
	return []stepsMutation{
		{"a pod is forgotten", func(c *stepsCase) { c.plan.Steps[1].Evictions = c.plan.Steps[1].Evictions[:1] }, verify.CodeEvictionMissing},
		{"a pod of nobody", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].Pod = "default/nobody" }, verify.CodeEvictionUnknown},
		{"a pod of another node", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].From = "busy" }, verify.CodeEvictionUnknown},
		{"a pod of a node that stays", func(c *stepsCase) {
			c.plan.Steps[1].Evictions = append(c.plan.Steps[1].Evictions, disruption.Eviction{Pod: "default/api", From: "busy", To: "big", Wave: 2})
		}, verify.CodeEvictionUnknown},
		{"a daemon moves", func(c *stepsCase) {
			c.cluster.Running = append(c.cluster.Running, st.Pod("daemon", st.OnNode("left"), st.OwnedByDaemonSet("d")))
			c.plan.Steps[1].Evictions = append(c.plan.Steps[1].Evictions, disruption.Eviction{Pod: "default/daemon", From: "left", To: "busy", Wave: 2})
		}, verify.CodeEvictionUnknown},
		{"a pod moves twice in a step", func(c *stepsCase) {
			c.plan.Steps[1].Evictions = append(c.plan.Steps[1].Evictions, disruption.Eviction{Pod: "default/web-1", From: "left", To: "big", Wave: 2})
		}, verify.CodeMovedTwice},
		{"a pod moves twice", func(c *stepsCase) {
			c.plan.Steps[1].Evictions[0].To = "big"
			c.plan.Steps[2].Launches[0].Pods = []string{"default/db", "default/web-1"}
			c.plan.Steps[2].Evictions = append(c.plan.Steps[2].Evictions, disruption.Eviction{Pod: "default/web-1", From: "big", To: "default-1", Wave: 1})
		}, verify.CodeMovedTwice},
		{"a machine is bought and drained", func(c *stepsCase) {
			c.plan.Steps = append(c.plan.Steps, disruption.Step{Reason: disruption.Empty, Drain: []string{"default-1"}})
		}, verify.CodeMovedTwice},
		{"nowhere", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].To = "nowhere" }, verify.CodeLanding},
		{"no place", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].To = "" }, verify.CodeLanding},
		{"where it is", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].To = "left" }, verify.CodeLanding},
		{"a node that goes later", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].To = "big" }, verify.CodeLanding},
		{"a machine that comes later", func(c *stepsCase) { c.plan.Steps[1].Evictions[1].To = "default-1" }, verify.CodeLanding},
		{"a node that does not work", func(c *stepsCase) { c.node("busy").Status.Conditions[0].Status = corev1.ConditionUnknown }, verify.CodeLanding},
		{"a node that has not started", func(c *stepsCase) { delete(c.node("busy").Labels, scheduling.InitializedLabel) }, verify.CodeLanding},
		{"a machine that goes", func(c *stepsCase) { c.machine("busy").Terminating = true }, verify.CodeLanding},
		{"a machine that will be taken", func(c *stepsCase) { c.machine("busy").Interruption = &disruption.Interruption{} }, verify.CodeLanding},
		{"a node that is removed", func(c *stepsCase) { c.node("busy").DeletionTimestamp = &metav1.Time{Time: c.cluster.Now} }, verify.CodeNodeLeaving},
		{"a launch for others", func(c *stepsCase) { c.plan.Steps[2].Launches[0].Pods = []string{"default/api"} }, verify.CodeLanding},
		{"two zones become one", twoZones, verify.CodeTopologySpread},
		{"too small a node", func(c *stepsCase) {
			c.plan.Steps[1].Evictions[1].To = "own"
			c.pod("web-2").Spec.Containers[0].Resources.Requests = st.Resources(st.Cores(2))
		}, verify.CodeResources},
		{"a taint", func(c *stepsCase) { c.node("busy").Spec.Taints = taints("example.com/closed") }, verify.CodeTaints},
		{"a selector", func(c *stepsCase) { c.pod("web-2").Spec.NodeSelector = map[string]string{"disk": "ssd"} }, verify.CodeNodeAffinity},
		{"a port", func(c *stepsCase) { listen(c.pod("web-2")); listen(c.pod("api")) }, verify.CodeHostPorts},
		{"a pod that does not want it there", func(c *stepsCase) { keepOff(c.pod("api"), "web") }, verify.CodePodAntiAffinity},
		{"a gate", func(c *stepsCase) { c.pod("web-2").Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }, verify.CodePodHeld},
		{"waves from 2", func(c *stepsCase) { c.plan.Steps[2].Evictions[0].Wave = 2 }, verify.CodeWave},
		{"no wave", func(c *stepsCase) { c.plan.Steps[2].Evictions[0].Wave = 0 }, verify.CodeWave},
		{"waves backwards", func(c *stepsCase) { c.plan.Steps[1].Evictions[0].Wave, c.plan.Steps[1].Evictions[1].Wave = 2, 1 }, verify.CodeWave},
		{"a name that is taken", func(c *stepsCase) { rename(c, "busy") }, verify.CodeLaunchName},
		{"a name of a node that is gone", func(c *stepsCase) { rename(c, "idle") }, verify.CodeLaunchName},
		{"another price", func(c *stepsCase) { c.plan.Steps[2].Launches[0].Options[0].Price++ }, verify.CodeOptionPrice},
		{"a type that is not sold", func(c *stepsCase) { c.plan.Steps[2].Launches[0].Options[0].InstanceType = "x" }, verify.CodeTypeUnknown},
		{"limits", func(c *stepsCase) { c.pool().Spec.Limits = st.Resources(st.Cores(5)) }, verify.CodeLimits},
		{"limits that later steps keep", func(c *stepsCase) {
			c.pool().Spec.Limits = st.Resources(st.Cores(6))
			c.plan.Steps = []disruption.Step{c.plan.Steps[2], c.plan.Steps[0], c.plan.Steps[1]}
		}, verify.CodeLimits},
		{"minValues are relaxed", func(c *stepsCase) { c.plan.Steps[2].Launches[0].MinValuesRelaxed = true }, verify.CodeMinValues},
	}
}

func worthMutations() []stepsMutation {
	return []stepsMutation{
		{"more is saved", func(c *stepsCase) { c.plan.Steps[2].SavingPerHour++ }, verify.CodeStepSaving},
		{"it costs less", func(c *stepsCase) { c.plan.Steps[1].DisruptionCost = 2 }, verify.CodeStepCost},
		{"it is worth more", func(c *stepsCase) { c.plan.Steps[1].Score = 5 }, verify.CodeStepScore},
		{"not enough per hour", func(c *stepsCase) { c.planner.MinSaving.PerHour = st.Cents(12) + 1 }, verify.CodeSavingTooSmall},
		{"not enough per month", func(c *stepsCase) { c.planner.MinSaving.PerMonth = 730*st.Cents(12) + 1 }, verify.CodeSavingTooSmall},
		{"not enough of it", func(c *stepsCase) { c.planner.MinSaving.Share = 0.61 }, verify.CodeSavingTooSmall},
		{"an option that saves nothing", func(c *stepsCase) {
			l := &c.plan.Steps[2].Launches[0]
			l.Options = append(l.Options, scheduling.LaunchOption{InstanceType: "m.large", Zone: "a", CapacityType: offerings.OnDemand, Price: st.Cents(20)})
		}, verify.CodeSavingTooSmall},
		{"spot for spot without a choice", func(c *stepsCase) {
			c.node("big").Labels[offerings.CapacityTypeLabel] = "spot"
			c.plan.Steps[2].Launches[0].Options[0].CapacityType = offerings.Spot
		}, verify.CodeSpotToSpot},
		{"a pod without a controller is to stay", func(c *stepsCase) { c.planner.KeepBarePods = true }, verify.CodeBarePod},
		{"nobody tells that a pod is gone for good", func(c *stepsCase) { c.plan.Steps[2].Risks = nil }, verify.CodeStepRisk},
		{"a risk that nobody knows", func(c *stepsCase) { c.plan.Steps[2].Risks[0].Code = "rain" }, verify.CodeStepRisk},
		{"nodes cost more than their machines", func(c *stepsCase) { c.planner.Policy.NodeOverhead = 1 }, verify.CodeStepSaving},
		{"not worth it", func(c *stepsCase) {
			c.pool().Spec.Disruption.ConsolidationPolicy = scheduling.Balanced
			c.planner.BalancedK = 1
		}, verify.CodeBelowThreshold},
	}
}

func verdictMutations() []stepsMutation {
	return []stepsMutation{
		{"a node is not told of", func(c *stepsCase) { c.plan.Nodes = c.plan.Nodes[1:] }, verify.CodeNodeVerdict},
		{"a node is told of twice", func(c *stepsCase) { c.plan.Nodes = append(c.plan.Nodes, c.plan.Nodes[4]) }, verify.CodeNodeVerdict},
		{"a node of nobody", func(c *stepsCase) { c.plan.Nodes[4].Node = "zero" }, verify.CodeNodeUnknown},
		{"nodes out of order", func(c *stepsCase) { c.plan.Nodes[0], c.plan.Nodes[1] = c.plan.Nodes[1], c.plan.Nodes[0] }, verify.CodeUnsorted},
		{"it is said to stay", func(c *stepsCase) { c.plan.Nodes[0].Decision = disruption.Keep }, verify.CodeNodeVerdict},
		{"another step", func(c *stepsCase) { c.plan.Nodes[0].Step = 2 }, verify.CodeNodeVerdict},
		{"another type", func(c *stepsCase) { c.plan.Nodes[0].InstanceType = "c.small" }, verify.CodeNodeVerdict},
		{"another price of a node", func(c *stepsCase) { c.plan.Nodes[0].PricePerHour++ }, verify.CodeNodeVerdict},
		{"no reason", func(c *stepsCase) { c.plan.Nodes[1].Reasons = nil }, verify.CodeNoReason},
		{"an unknown cause", func(c *stepsCase) { c.plan.Nodes[1].Reasons[0].Code = "whim" }, verify.CodeNoReason},
		{"a cause without a word", func(c *stepsCase) { c.plan.Nodes[1].Reasons[0].Detail = "" }, verify.CodeNoReason},
		{"rejected because of nothing", func(c *stepsCase) { c.plan.Nodes[1].Rejected = &disruption.RejectedMove{Drain: []string{"busy"}} }, verify.CodeNoReason},
		{"rejected for another", func(c *stepsCase) {
			c.plan.Nodes[1].Rejected = &disruption.RejectedMove{Drain: []string{"big"}, Because: c.plan.Nodes[1].Reasons[0]}
		}, verify.CodeNodeVerdict},
		{"price before", func(c *stepsCase) { c.plan.Summary.PricePerHourBefore++ }, verify.CodeSummaryPrice},
		{"price after", func(c *stepsCase) { c.plan.Summary.PricePerHourAfter-- }, verify.CodeSummaryPrice},
		{"overhead that there is none of", func(c *stepsCase) { c.plan.Summary.NodeOverheadPerHour = 1 }, verify.CodeSummaryExpected},
		{"expected price before", func(c *stepsCase) { c.plan.Summary.ExpectedPerHourBefore = st.Cents(80) }, verify.CodeSummaryExpected},
		{"expected price after", func(c *stepsCase) { c.planner.Policy.NodeOverhead = 1 }, verify.CodeSummaryExpected},
		{"built anew for more", func(c *stepsCase) { c.plan.Summary.Rebuilt = &disruption.Rebuilt{PricePerHour: st.Cents(29)} }, verify.CodeSummaryRebuilt},
		{"more is blocked than there is", func(c *stepsCase) {
			c.plan.Summary.Blocked = []disruption.Blocked{{Code: disruption.CauseSearch, PerHour: st.Cents(29)}}
		}, verify.CodeSummaryBlocked},
		{"a rebuilt cluster of nothing", func(c *stepsCase) {
			c.plan.Summary.Rebuilt = &disruption.Rebuilt{PricePerHour: st.Cents(20), Nodes: 1, Composition: []disruption.NodeKind{{NodePool: "default", InstanceType: "m", Nodes: 1, PricePerHour: st.Cents(19)}}}
		}, verify.CodeSummaryComposition},
		{"nothing is blocked", func(c *stepsCase) { c.plan.Summary.Blocked = []disruption.Blocked{{Code: disruption.CauseBudget}} }, verify.CodeSummaryBlocked},
		{"blocked for an unknown cause", func(c *stepsCase) {
			c.plan.Summary.Blocked = []disruption.Blocked{{Code: "whim", PerHour: st.Cents(8)}}
		}, verify.CodeSummaryBlocked},
		{"nodes before", func(c *stepsCase) { c.plan.Summary.NodesBefore = 5 }, verify.CodeSummaryCounts},
		{"nodes after", func(c *stepsCase) { c.plan.Summary.NodesAfter = 1 }, verify.CodeSummaryCounts},
		{"pods moved", func(c *stepsCase) { c.plan.Summary.PodsMoved = 2 }, verify.CodeSummaryCounts},
		{"launches", func(c *stepsCase) { c.plan.Summary.Launches = 0 }, verify.CodeSummaryCounts},
		{"unpriced nodes", func(c *stepsCase) { c.plan.Summary.UnpricedNodes = 1 }, verify.CodeSummaryCounts},
		{"cost", func(c *stepsCase) { c.plan.Summary.DisruptionCost = 5 }, verify.CodeStepCost},
		{"infinite cost", func(c *stepsCase) { c.plan.Summary.DisruptionCost = math.Inf(1) }, verify.CodeStepCost},
		{"gap", func(c *stepsCase) { c.plan.Summary.Gap = 0.1 }, verify.CodeSummaryGap},
		{"infinite gap", func(c *stepsCase) { c.plan.Summary.Gap = math.Inf(1) }, verify.CodeSummaryGap},
		{"status", func(c *stepsCase) { c.plan.Summary.Status = "" }, verify.CodeSummaryStatus},
		{"optimal", func(c *stepsCase) { c.plan.Summary.Status = scheduling.StatusOptimal }, verify.CodeSummaryStatus},
		{"negative bound", func(c *stepsCase) { c.plan.Summary.LowerBoundPerHour = -1 }, verify.CodeBoundAbovePrice},
		{"bound without a proof", func(c *stepsCase) { c.plan.Summary.LowerBoundPerHour, c.plan.Summary.Gap = st.Cents(28), 0 }, verify.CodeCertificateMissing},
		{"short frontier", func(c *stepsCase) { c.plan.Summary.Frontier = nil }, verify.CodeSummaryFrontier},
		{"frontier", func(c *stepsCase) { c.plan.Summary.Frontier[1].PodsMoved = 3 }, verify.CodeSummaryFrontier},
		{"room left out", func(c *stepsCase) { spare(c, 100, "") }, verify.CodeRoomKept},
		{"room of a running pod", func(c *stepsCase) { c.plan.Room = []scheduling.Assignment{{Node: "busy", Pods: []string{"shop/big"}}} }, verify.CodeRoomKept},
		{"room that is too small", func(c *stepsCase) { spare(c, 100_000, "big") }, verify.CodeResources},
		{"room of which the numbers tell nothing", func(c *stepsCase) { spare(c, 100, "big"); c.plan.RoomPending = nil }, verify.CodeRoomKept},
		{"room on a node that goes", func(c *stepsCase) { spare(c, 100, "left") }, verify.CodeEvictionMissing},
		{"cordon for pods that go where they are told", func(c *stepsCase) { c.plan.Cordon = []string{"idle"} }, verify.CodeCordon},
		{"realised for pods that go where they are told", func(c *stepsCase) { c.plan.Summary.AfterScheduling = &disruption.StepsAfterScheduling{} }, verify.CodeSummaryAfterScheduling},
	}
}

// spare adds a virtual pod to the cluster, and says that it has room on a node; "" says that it has none.
func spare(c *stepsCase, milliCPU int64, node string) {
	pod := st.Pod("spare", st.Requests(st.MilliCPU(milliCPU)))
	pod.Annotations = map[string]string{scheduling.VirtualPodAnnotation: "true"}
	c.cluster.Pods = append(c.cluster.Pods, pod)
	if node != "" {
		c.plan.Room = []scheduling.Assignment{{Node: node, Pods: []string{"default/spare"}}}
		c.plan.RoomPending = &disruption.Pending{Pods: 1, Existing: 1}
	}
}

func taints(key string) []corev1.Taint {
	return []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}}
}

func scheduled(nodes, schedule string, minutes int) []scheduling.Budget {
	return []scheduling.Budget{{Nodes: nodes, Schedule: &schedule, Duration: &metav1.Duration{Duration: time.Duration(minutes) * time.Minute}}}
}

func listen(pod *corev1.Pod) {
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
}

// keepOff gives the pod required anti-affinity over hosts to the pods of an app.
func keepOff(pod *corev1.Pod, app string) {
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}},
	}}
}

// twoZones spreads two pods over two zones, of which the last step leaves one without a node.
func twoZones(c *stepsCase) {
	c.node("big").Labels[zoneOf], c.plan.Nodes[0].Zone = "b", "b"
	for _, name := range []string{"api", "db"} {
		pod := c.pod(name)
		pod.Labels = map[string]string{"app": "shop"}
		spread(zoneOf, 1, of("shop"))(pod)
	}
	l := &c.plan.Steps[2].Launches[0]
	l.Options = l.Options[:1]
}

// rename gives the machine that the last step launches another name.
func rename(c *stepsCase, name string) {
	c.plan.Steps[2].Launches[0].Name, c.plan.Steps[2].Evictions[0].To = name, name
}
