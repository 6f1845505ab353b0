package disruption_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Budgets of pools say how many nodes go at once, not how many go: step after step, the
// same is saved where only a tenth of the nodes may be away.
func TestWornClustersByTenths(t *testing.T) {
	for seed, nodes := range []int{30, 40, 60} {
		if nodes > 30 && (testing.Short() || race.Enabled) {
			continue
		}
		for _, spot := range []bool{false, true}[:race.Fewer(2, 1)] {
			t.Run(fmt.Sprintf("%d-spot-%t", nodes, spot), func(t *testing.T) {
				c := st.Cluster(uint64(seed), st.ClusterOptions{Nodes: nodes, Spot: spot, Budgets: []scheduling.Budget{{Nodes: "10%"}}})
				plan, err := disruption.Planner{}.Plan(context.Background(), c)
				require.NoError(t, err)
				require.NoError(t, verify.Steps(c, plan))
				s := plan.Summary
				t.Logf("%v -> %v, bound %v, gap %.2f %%; %d steps, %d pods of %d moved", s.PricePerHourBefore, s.PricePerHourAfter,
					s.LowerBoundPerHour, 100*s.Gap, len(plan.Steps), s.PodsMoved, len(c.Running))
				assert.LessOrEqual(t, s.Gap, 0.03)
				again, err := disruption.Planner{}.Plan(context.Background(), st.Apply(c, 0, plan.Steps...))
				require.NoError(t, err)
				assert.Empty(t, again.Steps, "planned again")
			})
		}
	}
}

// In large clusters, too, and where nodes have to go together, in steps about as large as
// budgets allow.
func TestLargeClustersByTenths(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("hundreds of nodes")
	}
	c := st.Cluster(3, st.ClusterOptions{Nodes: 320, Spot: true, PodsPerNode: 50, MaxCPU: 32, Removed: 0.6, Budgets: []scheduling.Budget{{Nodes: "10%"}}})
	planner := disruption.Planner{}
	plan, err := planner.Plan(context.Background(), c)
	require.NoError(t, err)
	require.NoError(t, verify.StepsChecker{Planner: planner}.Steps(c, plan))
	largest := 0
	for i := range plan.Steps {
		largest = max(largest, len(plan.Steps[i].Drain))
	}
	t.Logf("gap %.2f %%, %d steps, the largest removes %d of %d nodes", 100*plan.Summary.Gap, len(plan.Steps), largest, len(c.Nodes))
	assert.LessOrEqual(t, plan.Summary.Gap, 0.03)
	assert.Greater(t, largest, len(c.Nodes)/20)
}
