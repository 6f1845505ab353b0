package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// In random clusters no step puts more pods of a SpotPolicy on spot nodes than it allows, unless there were more before.
func TestStepsKeepSpotPolicies(t *testing.T) {
	steps, broken := 0, 0
	for seed := range soak.Cases(120) {
		c, p := st.RandomCluster(seed), oddPlanner(seed)
		if seed%2 == 0 {
			p.Policy.Placement = scheduling.PlacementFree
		}
		c.SpotPolicies = st.SpotPolicies(c.Problem, seed)
		plan, err := judged(p, c)
		require.NoError(t, err, "seed %d", seed)
		for i := range plan.Summary.SpotShares {
			if s := &plan.Summary.SpotShares[i]; s.Spot > s.Pods-s.MinOnDemand {
				broken++
			}
		}
		steps += len(plan.Steps)
	}
	t.Logf("%d steps; %d policies are broken before and after", steps, broken)
	require.Greater(t, steps, 30)
}
