package disruption_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func freely(p disruption.Planner) disruption.Planner {
	p.Policy.Placement = scheduling.PlacementFree
	return p
}

// Where kube-scheduler binds evicted pods as it likes, steps cost little more than where pods go where they are told,
// and come to what they say, whichever of equal nodes it chooses.
func TestRealised(t *testing.T) {
	if race.Enabled {
		t.Skip("prices of large clusters")
	}
	var pinned, free, realised offerings.Price
	moved, waiting := 0, 0
	for seed := range soak.Cases(3) {
		c := st.Cluster(seed, st.ClusterOptions{Nodes: 20, Removed: 0.5, PDBs: seed%2 == 1, Spread: seed%4 >= 2, Apart: seed%4 == 3})
		told, err := disruption.Planner{}.Plan(t.Context(), c)
		require.NoError(t, err)
		require.Nil(t, told.Summary.AfterScheduling)
		require.Empty(t, told.Cordon)
		p := freely(disruption.Planner{})
		plan, err := p.Plan(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan), "seed %d", seed)
		require.NotEmpty(t, plan.Cordon)
		pinned, free = offerings.Sum(pinned, told.Summary.PricePerHourAfter), offerings.Sum(free, plan.Summary.PricePerHourAfter)
		realised = offerings.Sum(realised, plan.Summary.AfterScheduling.PricePerHourAfter)
		moved, waiting = moved+plan.Summary.PodsMoved, waiting+max(0, plan.Summary.AfterScheduling.PodsPending-1) // it is rounded up
	}
	assert.Less(t, free.USD(), 1.05*pinned.USD())
	assert.Less(t, realised.USD(), 1.03*free.USD())
	assert.Less(t, waiting, moved/25)
}

// Plans are right, and the same in any order, in clusters with everything in them that can go wrong. In the first of them
// pods wait for one that may only land when another one has, which waits.
func TestPlacedFreely(t *testing.T) {
	steps := 0
	for _, seed := range slices.AppendSeq([]uint64{4161}, soak.Cases(15)) {
		p := freely(dearPlanner(seed))
		p.Rebalance = seed%5 == 0
		plan, err := judged(p, st.RandomCluster(2_000+seed))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		steps += len(plan.Steps)
	}
	require.Positive(t, steps)
}

// Steps that are handed out one by one are those of the plan.
func TestStepsPlacedFreely(t *testing.T) {
	c := st.Cluster(2, st.ClusterOptions{Nodes: 8, Removed: 0.5})
	plan, err := freely(disruption.Planner{}).Plan(t.Context(), c)
	require.NoError(t, err)
	var steps []disruption.Step
	for step, err := range freely(disruption.Planner{}).Steps(context.Background(), c) {
		require.NoError(t, err)
		steps = append(steps, step)
	}
	require.Equal(t, plan.Steps, steps)
	require.NotEmpty(t, steps)
}
