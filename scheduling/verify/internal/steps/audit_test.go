package steps_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/steps"
)

// cluster has the nodes a, b and c of 2 cores for 10 nano-USD. The pod web runs on a, and fits on b; c must stay.
func cluster() disruption.Cluster {
	two := st.Type("two", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10))
	node := func(name string) *corev1.Node {
		return st.Node(name, st.OfPool("pool"), st.OfType(two, two.Offerings[0]))
	}
	kept := node("c")
	kept.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	return disruption.Cluster{Problem: scheduling.Problem{
		Now: time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), Catalog: st.MustCatalog(two), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Nodes:   []*corev1.Node{node("a"), node("b"), kept},
		Running: []*corev1.Pod{st.Pod("web", st.OnNode("a"), st.Requests(st.Cores(1)))},
	}}
}

// drain is a step that drains a node and moves the pod web from a to another node, if that is not "".
func drain(node, to string) disruption.Step {
	s := disruption.Step{Reason: disruption.Underutilized, Drain: []string{node}, SavingPerHour: 10}
	if to != "" {
		s.Evictions = []disruption.Eviction{{Pod: "default/web", From: "a", To: to, Wave: 1}}
	}
	return s
}

// breaks returns the objects at which the steps break the rule.
func breaks(code string, plan ...disruption.Step) []string {
	var report rule.Report
	steps.New(disruption.Planner{}, cluster(), &disruption.ConsolidationPlan{Steps: plan}).Judge(&report)
	var out []string
	for _, v := range report.Violations {
		if v.Code == code {
			out = append(out, v.Object)
		}
	}
	return out
}

// TestStepsSeeTheClusterThatEarlierStepsLeave: a step finds nodes and pods where the steps before it have left them.
func TestStepsSeeTheClusterThatEarlierStepsLeave(t *testing.T) {
	t.Parallel()
	assert.Empty(t, breaks(rule.EvictionMissing, drain("a", "b")))
	assert.Equal(t, []string{"steps[0]/pod/default/web"}, breaks(rule.EvictionMissing, drain("a", "")))
	assert.Equal(t, []string{"steps[1]/node/a"}, breaks(rule.NodeUnknown, drain("a", "b"), drain("a", "")), "it went with the first step")
	assert.Equal(t, []string{"steps[1]/pod/default/web"}, breaks(rule.EvictionMissing, drain("a", "b"), drain("b", "")), "the pod is there now")
	assert.Equal(t, []string{"steps[0]/node/c"}, breaks(rule.DoNotDisrupt, drain("c", "")))
}

// TestAuditChangesNothing: judging a plan, though it carries the steps out, leaves cluster and plan as they were.
func TestAuditChangesNothing(t *testing.T) {
	t.Parallel()
	c := cluster()
	c.Underway = []disruption.Step{drain("b", "")}
	plan := &disruption.ConsolidationPlan{Steps: []disruption.Step{drain("a", "b")}}
	audit := steps.New(disruption.Planner{}, c, plan)
	var first, second rule.Report
	audit.Judge(&first)
	audit.ProveBound(&first)
	want := cluster()
	want.Underway = []disruption.Step{drain("b", "")}
	assert.Equal(t, want, c)
	assert.Equal(t, &disruption.ConsolidationPlan{Steps: []disruption.Step{drain("a", "b")}}, plan)
	audit.Judge(&second)
	assert.Equal(t, first, second)
}

// TestBoundBesideNodesThatStay: the price of nodes that must not be removed needs no certificate, here 10 nano-USD for c.
func TestBoundBesideNodesThatStay(t *testing.T) {
	t.Parallel()
	plan := &disruption.ConsolidationPlan{Summary: disruption.ConsolidationSummary{LowerBoundPerHour: 10}}
	var report rule.Report
	proof, kept := steps.New(disruption.Planner{}, cluster(), plan).ProveBound(&report)
	assert.Empty(t, report.Violations)
	assert.EqualValues(t, 10, kept)
	assert.Zero(t, proof.Proven.Sign())
	plan.Summary.LowerBoundPerHour++
	steps.New(disruption.Planner{}, cluster(), plan).ProveBound(&report)
	require.Len(t, report.Violations, 1)
	assert.Equal(t, rule.CertificateMissing, report.Violations[0].Code)
}
