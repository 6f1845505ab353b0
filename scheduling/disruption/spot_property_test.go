package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// In random clusters with SpotPolicies, with room of virtual pods and with both, no step puts more pods of a policy on spot nodes than
// it allows, unless there were more before, and each virtual pod that has room before the first step has room after each, whether or not
// kube-scheduler binds evicted pods. The lower bound and the cluster rebuilt from scratch have the room, too.
func TestStepsKeepSpotPoliciesAndRoom(t *testing.T) {
	var steps, broken, kept, moved, priced int
	for seed := range soak.Cases(120) {
		c, p := st.RandomCluster(seed), oddPlanner(seed)
		if seed%2 == 0 {
			p.Policy.Placement = scheduling.PlacementFree
		}
		if seed%4 > 0 {
			c.SpotPolicies = st.SpotPolicies(c.Problem, seed)
		}
		if seed%4 < 2 {
			for _, b := range st.RandomBuffers(seed, &c.Problem) {
				c.Pods = append(c.Pods, b.Pods()...)
			}
		}
		plan, err := judged(p, c)
		require.NoError(t, err, "seed %d", seed)
		for i := range plan.Summary.SpotShares {
			if s := &plan.Summary.SpotShares[i]; s.Spot > s.Pods-s.MinOnDemand {
				broken++
			}
		}
		for _, a := range plan.Room {
			kept += len(a.Pods)
		}
		for i := range plan.Steps {
			moved += len(plan.Steps[i].Evictions) - plan.Steps[i].PodsMoved()
		}
		if r := plan.Summary.Rebuilt; r != nil && r.RoomPerHour != nil && *r.RoomPerHour > 0 {
			priced++
		}
		steps += len(plan.Steps)
	}
	t.Logf("%d steps; %d policies are broken before and after; %d virtual pods had room, and moved %d times; it cost something in %d clusters", steps, broken, kept, moved, priced)
	require.Greater(t, steps, 30)
	require.Positive(t, kept)
	require.Positive(t, priced)
}
