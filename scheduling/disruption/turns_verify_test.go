package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// In clusters with budgets, spread and anti-affinity, all nodes are replaced one after the
// other, and every pod may land when its turn comes.
func TestAllNodesAreReplacedInTurns(t *testing.T) {
	for _, seed := range []uint64{1, 2, 5, 17, 20}[:race.Fewer(5, 1)] { // these need turns
		c := schedulingtest.Cluster(seed, schedulingtest.ClusterOptions{Nodes: 12, PDBs: true, Spread: true, Apart: true, DaemonSets: 2})
		for i := range c.Machines {
			c.Machines[i].Drift = "AMIDrift"
		}
		p := disruption.Planner{Reasons: []disruption.Reason{disruption.Drifted}, Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		plan, err := p.Plan(t.Context(), c)
		require.NoError(t, err)
		require.NotEmpty(t, plan.Steps)
		assert.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan), "seed %d", seed)
	}
}
