package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Whatever else holds, pools keep their least sizes, as far as nodes are not taken away anyway; and what
// costs nothing, as a node stays that could not go, costs nothing.
func TestPoolsKeepTheirLeastSizes(t *testing.T) {
	held := 0
	for seed := range soak.Cases(60) {
		c, planner := st.RandomCluster(seed), dearPlanner(seed)
		least := map[string]int{}
		for i, pool := range c.NodePools {
			least[pool.Name] = int(seed+uint64(i)) % 4
		}
		bound := c.KeepAtLeast(planner, least)
		plan, err := planner.Plan(t.Context(), bound)
		require.NoError(t, err)
		require.NoError(t, verify.StepsChecker{Planner: planner}.Steps(bound, plan), "seed %d", seed)
		total, went, forced := map[string]int{}, map[string]int{}, map[string]int{}
		for _, node := range c.Nodes {
			total[node.Labels[scheduling.NodePoolLabel]]++
		}
		for _, v := range plan.Nodes {
			for _, cause := range v.Reasons {
				if cause.Code == disruption.CauseMinNodes {
					held++
				}
				if cause.Code == disruption.CauseBeingRemoved {
					forced[v.NodePool]++
				}
			}
			if v.Decision == disruption.Drain {
				went[v.NodePool]++
				if r := plan.Steps[v.Step-1].Reason; r == disruption.Interrupted || r == disruption.Expired {
					forced[v.NodePool]++
				}
			}
		}
		for pool, n := range least {
			require.GreaterOrEqual(t, total[pool]-went[pool], min(n, total[pool])-forced[pool], "seed %d, pool %s", seed, pool)
		}
	}
	require.True(t, race.Enabled || held > 20, "some pools are as small as they may be")
}

// One node by itself: no other goes unless it is taken away or has expired, the plan stands before the judge, and it
// saves no more than the plan for all nodes together.
func TestOneNodeByItself(t *testing.T) {
	went := 0
	for seed := range soak.Cases(100) {
		c, planner := st.RandomCluster(seed), dearPlanner(seed)
		if len(c.Nodes) == 0 {
			continue
		}
		name := c.Nodes[int(seed)%len(c.Nodes)].Name
		alone := c.KeepAllBut(name)
		plan, err := planner.Plan(t.Context(), alone)
		require.NoError(t, err)
		require.NoError(t, verify.StepsChecker{Planner: planner}.Steps(alone, plan), "seed %d", seed)
		for _, v := range plan.Nodes {
			if v.Decision != disruption.Drain {
				continue
			}
			if reason := plan.Steps[v.Step-1].Reason; reason != disruption.Interrupted && reason != disruption.Expired {
				require.Equal(t, name, v.Node, "seed %d, removed for the reason %s", seed, reason)
				went++
			}
		}
	}
	require.True(t, race.Enabled || went > 3, "some go by themselves")
}
