package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A plan does not depend on who watches, and what is told last is the plan.
func TestObserver(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		c := schedulingtest.RandomCluster(seed)
		want, err := disruption.Planner{}.Plan(t.Context(), c)
		require.NoError(t, err)
		var told []scheduling.Progress
		got, err := disruption.Planner{Observer: func(p scheduling.Progress) { told = append(told, p) }}.Plan(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, want, got, "seed %d", seed)
		last := told[len(told)-1]
		assert.Equal(t, scheduling.PhaseDone, last.Phase)
		assert.Len(t, want.Steps, last.Steps, "seed %d", seed)
		assert.Equal(t, want.Summary.PricePerHourAfter, last.PricePerHour, "seed %d", seed)
		assert.Equal(t, want.Summary.LowerBoundPerHour, last.LowerBoundPerHour, "seed %d", seed)
	}
}
