package judged_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/judged"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// A consolidation plan of which some steps are wrong loses these, and is right then.
func TestWrongStepsAreLeftOut(t *testing.T) {
	types, err := instancetypes.ParseFilter("family in (c6i,m6i),zone=us-east-1a")
	require.NoError(t, err)
	c := st.Cluster(3, st.ClusterOptions{Nodes: 12, PodsPerNode: 4, MaxCPU: 4, Catalog: ec2.MustCatalog("us-east-1").Filter(types)})
	p := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
	for name, tc := range map[string]struct {
		spoil func(*disruption.ConsolidationPlan)
		left  int // steps, as seen from the end
		says  string
	}{
		"nothing": {spoil: func(*disruption.ConsolidationPlan) {}},
		"a step": {func(x *disruption.ConsolidationPlan) { x.Steps[len(x.Steps)-2].SavingPerHour++ }, 2,
			"2 steps are left out, from step "},
		"the first step": {func(x *disruption.ConsolidationPlan) { x.Steps[0].Drain = nil }, -1, " steps are left out, from step 1 on, because the plan did not pass the check of every plan ("},
		"the summary":    {func(x *disruption.ConsolidationPlan) { x.Summary.LowerBoundPerHour = x.Summary.PricePerHourAfter + 1 }, 0, "the lower bound is left out"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := p.Plan(t.Context(), c)
			require.NoError(t, err)
			require.Greater(t, len(plan.Steps), 2)
			warnings, want := len(plan.Warnings), len(plan.Steps)-tc.left
			if tc.left < 0 {
				want = 0
			}
			tc.spoil(plan)
			got, err := judged.Steps(t.Context(), p, c, plan)
			require.NoError(t, err)
			require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, got))
			require.Len(t, got.Steps, want)
			if tc.says == "" {
				require.Same(t, plan, got)
				return
			}
			require.Len(t, got.Warnings, warnings+1)
			text := got.Warnings[warnings].Message
			require.Contains(t, text, tc.says)
			require.Contains(t, text, "this is a bug of plimsoll, please report it")
		})
	}
}

// A plan that is wrong is made again with another effort.
func TestWrongPlansAreMadeAgain(t *testing.T) {
	p, planner := st.Random(5, st.Size{}), provisioning.Planner{}
	plan, err := planner.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Launches)
	plan.Launches[0].Pods = nil
	got, err := judged.Plan(t.Context(), planner, p, plan)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, got))
	require.Contains(t, got.Warnings[len(got.Warnings)-1].Message, "this plan is of another effort, because the first plan did not pass the check")
}
