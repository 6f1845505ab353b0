package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Where nodes have to go, their pods go at once where they stay, or a later step of the same
// plan brings them there. In each of these clusters the first places that offer themselves are
// on nodes that would go next. In those of the second row they are the only ones until steps
// are done, as where a node holds the only machine of a reservation.
func TestForcedMovesLeaveNothingToSave(t *testing.T) {
	seeds := []uint64{50, 75, 121, 354, 427, 1404, 1459, 1576, 1617, 1826, 1835, 2152, 2305,
		67, 196, 235, 247, 403, 617, 671, 808, 1219, 1226, 1297}
	for i := range soak.Cases(3) {
		seed := seeds[i%uint64(len(seeds))]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c, p := st.RandomCluster(seed), oddPlanner(seed)
			plan, err := p.Plan(t.Context(), c)
			require.NoError(t, err)
			require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan))
			require.NotEmpty(t, plan.Steps)
			again, err := p.Plan(t.Context(), st.Apply(c, 0, plan.Steps...))
			require.NoError(t, err)
			for i := range again.Steps {
				require.False(t, saves(&again.Steps[i]), "%+v", again.Steps[i])
			}
			// What is broken off is a part of the whole, and right.
			for _, n := range []int{1, len(plan.Steps) - 1} {
				if n == 0 {
					continue
				}
				p.MaxSteps = n
				part, err := p.Plan(t.Context(), c)
				require.NoError(t, err)
				require.Equal(t, plan.Steps[:n], part.Steps)
				require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, part))
			}
			p.MaxSteps = 0
			var steps []disruption.Step
			for step, err := range p.Steps(t.Context(), c) {
				require.NoError(t, err)
				steps = append(steps, step)
			}
			require.Equal(t, plan.Steps, steps)
		})
	}
}
