package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/samber/lo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// withSpotPolicy is a problem in which at most 60 % of ten pods may be on spot nodes, two of which fit on a node.
func withSpotPolicy() scheduling.Problem {
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(st.Type("m7i.large", st.Capacity(st.Cores(2), st.GiB(8)),
			st.OnDemand("us-east-1a", st.Cents(9)), st.Spot("us-east-1a", st.Cents(3)))),
		Pods: st.Pods(10, "web", st.Label("app", "web"), st.Requests(st.MilliCPU(900), st.GiB(1))),
		SpotPolicies: []*scheduling.SpotPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: scheduling.SpotPolicySpec{
			PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MaxSpotPercent: lo.ToPtr[int32](60),
		}}},
	}
}

// Plans that break a SpotPolicy, or state other shares, are found.
func TestForgedSpotShares(t *testing.T) {
	onDemand := func(plan *scheduling.Plan) *scheduling.Launch {
		return &plan.Launches[slices.IndexFunc(plan.Launches, func(l scheduling.Launch) bool { return l.Options[0].CapacityType == offerings.OnDemand })]
	}
	for name, tc := range map[string]struct {
		forge func(*scheduling.Problem, *scheduling.Plan)
		codes []verify.Code
	}{
		"a plan for 80 %": {func(_ *scheduling.Problem, plan *scheduling.Plan) {
			lax := withSpotPolicy()
			*lax.SpotPolicies[0].Spec.MaxSpotPercent = 80
			other, err := provisioning.Planner{}.Plan(context.Background(), lax)
			require.NoError(t, err)
			*plan = *other
		}, []verify.Code{verify.CodeSpotShare, verify.CodeSummarySpotShares, verify.CodeSpotPolicy}},
		"a spot option of an on-demand launch": {func(_ *scheduling.Problem, plan *scheduling.Plan) {
			l := onDemand(plan)
			l.Options = append(l.Options, scheduling.LaunchOption{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot, Price: st.Cents(3)})
		}, []verify.Code{verify.CodeSpotShare, verify.CodeSpotPolicy}},
		"other shares": {func(_ *scheduling.Problem, plan *scheduling.Plan) { plan.Summary.SpotShares[0].Spot-- },
			[]verify.Code{verify.CodeSummarySpotShares}},
		"no shares": {func(_ *scheduling.Problem, plan *scheduling.Plan) { plan.Summary.SpotShares = nil }, []verify.Code{verify.CodeSummarySpotShares}},
		"a price without the policy that no plan has": {func(_ *scheduling.Problem, plan *scheduling.Plan) {
			*plan.Summary.WithoutSpotPoliciesPerHour -= st.Cents(1)
		}, []verify.Code{verify.CodeSummarySpotShares}},
		"a price without the policy and without its plan": {func(_ *scheduling.Problem, plan *scheduling.Plan) {
			plan.Summary.WithoutSpotPolicies = nil
		}, []verify.Code{verify.CodeSummarySpotShares}},
		"a plan without the policy that leaves a node out": {func(_ *scheduling.Problem, plan *scheduling.Plan) {
			without := plan.Summary.WithoutSpotPolicies
			without.Launches = without.Launches[1:]
		}, []verify.Code{verify.CodeSummaryPrice}},
		"shares of no policy": {func(p *scheduling.Problem, _ *scheduling.Plan) { p.SpotPolicies = nil }, []verify.Code{verify.CodeSummarySpotShares}},
	} {
		t.Run(name, func(t *testing.T) {
			p := withSpotPolicy()
			plan, err := provisioning.Planner{}.Plan(context.Background(), p)
			require.NoError(t, err)
			require.NoError(t, verify.Plan(p, plan))
			tc.forge(&p, plan)
			var report *verify.Report
			require.ErrorAs(t, verify.Plan(p, plan), &report)
			for _, code := range tc.codes {
				assert.True(t, slices.ContainsFunc(report.Violations, func(v verify.Violation) bool { return v.Code == code }), "%s in %v", code, report)
			}
		})
	}
}

// Steps that move pods onto spot nodes beyond a policy are found.
func TestForgedStepsBreakASpotPolicy(t *testing.T) {
	p := withSpotPolicy()
	p.Now = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	large, _ := p.Catalog.Get("m7i.large")
	pool := p.NodePools[0]
	pool.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	offering := large.Offerings[slices.IndexFunc(large.Offerings, func(o offerings.Offering) bool { return o.CapacityType == offerings.OnDemand })]
	for i, pod := range p.Pods {
		name := string(rune('a' + i/2))
		if i%2 == 0 {
			p.Nodes = append(p.Nodes, st.Node(name, st.OfType(large, offering), st.OfPool("default")))
		}
		pod.Spec.NodeName, pod.Status.Phase = name, "Running"
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: lo.ToPtr(true)}}
		p.Running = append(p.Running, pod)
	}
	p.Pods = nil
	c := disruption.Cluster{Problem: p}
	plan, err := disruption.Planner{}.Plan(context.Background(), c)
	require.NoError(t, err)
	require.NoError(t, verify.Steps(c, plan))
	require.Equal(t, []int{4, 6}, []int{plan.Summary.SpotShares[0].OnDemand, plan.Summary.SpotShares[0].Spot})

	without := c
	without.SpotPolicies = nil
	plan, err = disruption.Planner{}.Plan(context.Background(), without)
	require.NoError(t, err)
	require.NoError(t, verify.Steps(without, plan))
	var report *verify.Report
	require.ErrorAs(t, verify.Steps(c, plan), &report)
	require.True(t, slices.ContainsFunc(report.Violations, func(v verify.Violation) bool { return v.Code == verify.CodeSpotShare }), "%v", report)
	require.True(t, slices.ContainsFunc(report.Violations, func(v verify.Violation) bool {
		return v.Code == verify.CodeSpotPolicy && strings.HasSuffix(v.Detail, ": maxSpotPercent of SpotPolicy web keeps it off spot nodes")
	}), "%v", report)
	require.False(t, slices.ContainsFunc(report.Violations, func(v verify.Violation) bool { return v.Code == verify.CodeNodeAffinity }), "%v", report)
}
