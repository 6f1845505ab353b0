package disruption_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// The room of virtual pods holds after each step of plans for random clusters: verify carries the steps out, and each virtual
// pod that has room before the first step has room after each, whether or not kube-scheduler binds evicted pods.
func TestRoomHolds(t *testing.T) {
	var kept, moved int
	for seed := range soak.Cases(100) {
		c := st.RandomCluster(seed)
		for _, b := range st.RandomBuffers(seed, &c.Problem) {
			c.Pods = append(c.Pods, b.Pods()...)
		}
		planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		if seed%2 == 1 {
			planner.Policy.Placement = scheduling.PlacementFree
		}
		plan, err := planner.Plan(context.Background(), c)
		require.NoError(t, err)
		assert.NoError(t, verify.StepsChecker{Planner: planner}.Steps(c, plan), "seed %d", seed)
		for _, a := range plan.Room {
			kept += len(a.Pods)
		}
		for i := range plan.Steps {
			moved += len(plan.Steps[i].Evictions) - plan.Steps[i].PodsMoved()
		}
	}
	t.Logf("%d virtual pods had room, and moved %d times", kept, moved)
	require.Positive(t, kept)
}
