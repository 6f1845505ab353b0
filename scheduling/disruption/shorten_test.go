package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// A plan may be cut off after any step: what is left begins like the whole, is right, and says the truth.
func TestShorten(t *testing.T) {
	cut := 0
	for seed := range soak.Cases(25) {
		c := st.RandomCluster(seed)
		p := anyPlanner(seed, &c)
		plan, err := p.Plan(t.Context(), c)
		require.NoError(t, err)
		for n := range len(plan.Steps) + 1 {
			short, err := p.Shorten(t.Context(), c, plan, n)
			require.NoError(t, err)
			require.Equal(t, append([]disruption.Step{}, plan.Steps[:n]...), short.Steps)
			require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, short), "seed %d, %d of %d steps", seed, n, len(plan.Steps))
			require.Equal(t, append([]disruption.Point{}, plan.Summary.Frontier[:n]...), append([]disruption.Point{}, short.Summary.Frontier...))
			cut++
		}
		_, err = p.Shorten(t.Context(), c, plan, len(plan.Steps)+1)
		require.ErrorIs(t, err, scheduling.ErrInvalid)
	}
	_, plans := soak.Window(25)
	require.Greater(t, cut, plans+plans/2, "plans with steps are among them")
}
