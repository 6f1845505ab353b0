package whatif_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Answers pass both checks on any cluster; where no pod waits they are what the planner plans.
func TestAnswersOfRandomClusters(t *testing.T) {
	for seed := range soak.Cases(10) {
		c := schedulingtest.RandomCluster(seed)
		planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		base, err := whatif.Answer(t.Context(), planner, c, nil)
		require.NoError(t, err, "seed %d", seed)
		if len(c.Pods) == 0 && len(c.Nodes) > 0 {
			plan, err := planner.Plan(t.Context(), c)
			require.NoError(t, err)
			require.Equal(t, cmp.Or(plan.Summary.ExpectedPerHourAfter, plan.Summary.PricePerHourAfter), base.PricePerHour, "seed %d", seed)
			require.Equal(t, plan.Summary.PodsMoved, base.PodsMoved, "seed %d", seed)
		}
		planner.Policy.NoSpot = true
		calm, err := whatif.Answer(t.Context(), planner, c, nil)
		require.NoError(t, err, "seed %d", seed)
		calm.Against(base)
		require.Nil(t, calm.Added, "seed %d", seed)
	}
}
