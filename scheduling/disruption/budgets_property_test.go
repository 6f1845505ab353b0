package disruption_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Budgets of pools say how many nodes go at once, not how many go: step after step, the
// same is saved where only a tenth of the nodes may be away.
func TestWornClustersByTenths(t *testing.T) {
	for seed, nodes := range []int{30, 40, 60} {
		if (nodes > 30 || race.Enabled) && !soak.Long() {
			continue
		}
		for _, spot := range []bool{false, true} {
			if spot && !soak.Long() {
				continue
			}
			t.Run(fmt.Sprintf("%d-spot-%t", nodes, spot), func(t *testing.T) {
				c := st.Cluster(uint64(seed), st.ClusterOptions{Nodes: nodes, Spot: spot, Budgets: []scheduling.Budget{{Nodes: "10%"}}})
				plan, err := disruption.Planner{}.Plan(context.Background(), c)
				require.NoError(t, err)
				require.NoError(t, verify.Steps(c, plan))
				s := plan.Summary
				t.Logf("%v -> %v, bound %v, gap %.2f %%; %d steps, %d pods of %d moved", s.PricePerHourBefore, s.PricePerHourAfter,
					s.LowerBoundPerHour, 100*s.Gap, len(plan.Steps), s.PodsMoved, len(c.Running))
				assert.LessOrEqual(t, s.Gap, 0.06)
				again, err := disruption.Planner{}.Plan(context.Background(), st.Apply(c, 0, plan.Steps...))
				require.NoError(t, err)
				assert.Empty(t, again.Steps, "planned again")
			})
		}
	}
}
