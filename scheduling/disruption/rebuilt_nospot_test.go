package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Without new spot nodes the cluster rebuilt from scratch has none either: its spot nodes are nodes of the cluster. The lower
// bound may be below its price, because it is proven for clusters that keep such nodes.
func TestRebuiltWithoutSpot(t *testing.T) {
	rebuilt := 0
	for seed := range soak.Cases(60) {
		c, planner := st.RandomCluster(seed), dearPlanner(seed)
		planner.Policy.NoSpot = true
		plan, err := planner.Plan(t.Context(), c)
		require.NoError(t, err)
		if plan.Summary.Rebuilt == nil {
			continue
		}
		for _, kind := range plan.Summary.Rebuilt.Composition {
			if kind.CapacityType == offerings.Spot {
				require.Equal(t, kind.Existing, kind.Nodes, "seed %d: %+v", seed, kind)
			}
			rebuilt += kind.Nodes - kind.Existing
		}
	}
	require.True(t, race.Enabled || rebuilt > 20, "clusters are rebuilt with other nodes")
}
