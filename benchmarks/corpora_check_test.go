package benchmarks

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// The first pods of each corpus can be placed, and a fast plan for them passes the second
// opinion. This runs with the ordinary tests, so that a benchmark cannot rot until somebody
// runs it.
func TestCorpora(t *testing.T) {
	corpora := map[string]scheduling.Problem{
		"workloads":      workloads(t, 1_000),
		"anything":       anything(t, 1_000),
		"on-demand":      mixed(t, "on-demand"),
		"spot":           mixed(t, "spot"),
		"pools":          manyPools(t),
		"running":        running(t),
		"diverse":        diverse(t, 1_000),
		"preferences":    preferring(t, 4_000, true),
		"no preferences": preferring(t, 4_000, false),
	}
	for name, p := range corpora {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Pods = p.Pods[:min(len(p.Pods), 500)]
			solver := scheduling.Policy{Effort: scheduling.EffortFast}
			plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
			require.NoError(t, err)
			assert.Empty(t, plan.Unschedulable)
			assert.Positive(t, plan.Summary.LowerBoundPerHour)
			assert.NoError(t, verify.Checker{Policy: solver, SkipRefusals: true}.Plan(p, plan))
		})
	}
}

// Preferences that cannot all be met cost at most ten times as much as the same pods cost
// without them, and a plan with a node for every pod allocates at most half a MiB for each.
// BenchmarkPreferences measures how long either takes.
func TestPreferencesCostLittle(t *testing.T) {
	solve := func(preferences bool) (offerings.Price, uint64) {
		p := preferring(t, 1_000, preferences)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Empty(t, plan.Unschedulable)
		return plan.Summary.PricePerHour, after.TotalAlloc - before.TotalAlloc
	}
	with, allocated := solve(true)
	without, _ := solve(false)
	assert.LessOrEqual(t, with, 10*without)
	assert.LessOrEqual(t, allocated, uint64(1_000*512<<10))
}
