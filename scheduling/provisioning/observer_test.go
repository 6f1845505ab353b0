package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A plan does not depend on its observer, with a session or without, and the last plan that the observer gets is the
// plan.
func TestObserver(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		p := schedulingtest.Random(840_000+seed, schedulingtest.Size{Pods: 20, TopologyTerms: seed%2 == 0})
		policy := scheduling.Policy{Effort: []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortThorough}[seed%3]}
		want, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
		require.NoError(t, err)
		var told []scheduling.Progress
		observer := func(p scheduling.Progress) { told = append(told, p) }
		got, err := provisioning.Planner{Policy: policy, Observer: observer}.Plan(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, want, got, "seed %d", seed)
		first := told
		s, err := provisioning.NewSession(policy, p)
		require.NoError(t, err)
		told = nil
		s.Observe(observer)
		got, err = s.Plan(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got, "seed %d", seed)
		assert.Equal(t, first, told, "seed %d", seed)
		require.NotEmpty(t, told)
		last := told[len(told)-1]
		assert.Equal(t, scheduling.PhaseSearch, told[0].Phase)
		assert.Equal(t, scheduling.PhaseDone, last.Phase)
		assert.Equal(t, want.Summary.Placed, last.Placed, "seed %d", seed)
		assert.Equal(t, max(want.Summary.PricePerHour, want.Summary.ExpectedPerHour), last.PricePerHour, "seed %d", seed)
		assert.Equal(t, want.Summary.LowerBoundPerHour, last.LowerBoundPerHour, "seed %d", seed)
	}
}
