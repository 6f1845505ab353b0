package verify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestPodsMoveOnToSave: pods of a node that had to go may move a second time from the machine that was launched for
// them, in order to save; all other pods move once. In this cluster a node has expired that uses the only machine of a
// reservation.
func TestPodsMoveOnToSave(t *testing.T) {
	t.Parallel()
	planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
	cluster := st.RandomCluster(808)
	for name, c := range map[string]struct {
		change func(*disruption.Cluster, *disruption.ConsolidationPlan)
		want   []verify.Code
	}{
		"as it is": {func(*disruption.Cluster, *disruption.ConsolidationPlan) {}, nil},
		"what was done to save": {func(_ *disruption.Cluster, p *disruption.ConsolidationPlan) {
			p.Steps[0].Reason = disruption.Underutilized
		}, []verify.Code{verify.CodeMovedTwice}},
		"what has to be moves on": {func(_ *disruption.Cluster, p *disruption.ConsolidationPlan) {
			p.Steps[2].Reason = disruption.Drifted
		}, []verify.Code{verify.CodeMovedTwice}},
		"at once": {func(c *disruption.Cluster, _ *disruption.ConsolidationPlan) {
			c.NodePools = append([]*scheduling.NodePool(nil), c.NodePools...)
			for i, pool := range c.NodePools {
				own := *pool
				own.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: new(time.Duration)}
				*own.Spec.Disruption.ConsolidateAfter.Duration = time.Minute
				c.NodePools[i] = &own
			}
		}, []verify.Code{verify.CodeTooSoon}},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := planner.Plan(t.Context(), cluster)
			require.NoError(t, err)
			require.Len(t, plan.Steps, 3)
			require.Equal(t, plan.Steps[0].Launches[0].Name, plan.Steps[2].Drain[0])
			changed := cluster
			c.change(&changed, plan)
			err = verify.StepsChecker{Planner: planner}.Steps(changed, plan)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			var report *verify.Report
			require.ErrorAs(t, err, &report)
			for _, code := range c.want {
				require.True(t, report.Has(code), "%s: %v", code, err)
			}
		})
	}
}
