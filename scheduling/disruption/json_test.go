package disruption_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A plan survives being written and read.
func TestPlansSurviveTheRoundTrip(t *testing.T) {
	for seed := range soak.Cases(10) {
		plan, err := disruption.Planner{}.Plan(t.Context(), st.RandomCluster(seed))
		if err == nil { // others test how odd clusters are refused
			survives(t, plan)
		}
	}
	// What replaces an expired node may cost more than that, and so may a move that is not made.
	survives(t, &disruption.ConsolidationPlan{
		Steps: []disruption.Step{{Reason: disruption.Expired, SavingPerHour: -12_096_000}},
		Nodes: []disruption.Verdict{{Node: "a", Decision: disruption.Keep, Rejected: &disruption.RejectedMove{SavingPerHour: -1}}},
	})
}

func survives(t *testing.T, plan *disruption.ConsolidationPlan) {
	t.Helper()
	written, err := json.Marshal(plan)
	require.NoError(t, err)
	var read disruption.ConsolidationPlan
	require.NoError(t, json.Unmarshal(written, &read))
	again, err := json.Marshal(&read)
	require.NoError(t, err)
	assert.Equal(t, string(written), string(again))
}
