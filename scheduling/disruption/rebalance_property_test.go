package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Whatever is moved to keep a rule keeps all of them where it lands, and nothing is moved
// again once that is done.
func TestRebalanceRandomClusters(t *testing.T) {
	p := disruption.Planner{Reasons: []disruption.Reason{disruption.Misplaced}}
	moved := 0
	for seed := range soak.Cases(60) {
		c := schedulingtest.RandomCluster(seed)
		plan, err := p.Plan(t.Context(), c)
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan), "seed %d", seed)
		moved += len(plan.Steps)
		if len(plan.Steps) == 0 {
			continue
		}
		again, err := p.Plan(t.Context(), schedulingtest.Apply(c, time.Hour, plan.Steps...))
		require.NoError(t, err, "seed %d", seed)
		for i := range again.Steps {
			for _, e := range again.Steps[i].Evictions {
				for k := range plan.Steps {
					require.NotEqual(t, plan.Steps[k].Evictions[0].Pod, e.Pod, "seed %d: it has moved before", seed)
				}
			}
		}
	}
	t.Logf("%d pods moved", moved)
	require.Positive(t, moved)
}
