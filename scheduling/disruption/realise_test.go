package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A plan of steps is the same whoever binds the pods; with kube-scheduler free to, it says what the
// steps come to, never less than what they promise.
func TestRealised(t *testing.T) {
	moved := 0
	for seed := range soak.Cases(3) {
		c := st.Cluster(seed, st.ClusterOptions{Nodes: 10, PDBs: true})
		pinned, err := disruption.Planner{}.Plan(t.Context(), c)
		require.NoError(t, err)
		require.Nil(t, pinned.Summary.Realised)
		free, err := disruption.Planner{Policy: scheduling.Policy{Placement: scheduling.PlacementFree}}.Plan(t.Context(), c)
		require.NoError(t, err)
		r := free.Summary.Realised
		require.NotNil(t, r, "seed %d", seed)
		assert.GreaterOrEqual(t, r.PricePerHourAfter, free.Summary.PricePerHourAfter, "seed %d", seed)
		assert.Equal(t, r.Launches == 0, r.PricePerHourAfter == free.Summary.PricePerHourAfter, "seed %d", seed)
		free.Summary.Realised = nil
		assert.Equal(t, pinned, free, "seed %d", seed)
		moved += free.Summary.PodsMoved
	}
	assert.Positive(t, moved)
}
