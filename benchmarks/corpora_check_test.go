package benchmarks

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
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
		"workloads": workloads(t, 1_000),
		"anything":  anything(t, 1_000),
		"on-demand": mixed(t, "on-demand"),
		"spot":      mixed(t, "spot"),
		"pools":     manyPools(t),
		"running":   running(t),
		"diverse":   diverse(t, 1_000),
		"wishes":    wishful(t, true),
		"no wishes": wishful(t, false),
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

// Wishes that cannot all be granted cost at most ten times what the same pods cost
// without them, and a plan with a machine for every pod allocates at most twenty times as
// much as one with six machines. How long either takes is for BenchmarkWishes to say.
func TestWishesCostLittle(t *testing.T) {
	solve := func(wishes bool) (offerings.Price, uint64) {
		p, err := mix.Wishful(1_000, wishes)
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Empty(t, plan.Unschedulable)
		return plan.Summary.PricePerHour, after.TotalAlloc - before.TotalAlloc
	}
	withWishes, much := solve(true)
	without, little := solve(false)
	assert.LessOrEqual(t, withWishes, 10*without)
	assert.LessOrEqual(t, much, 20*little)
}
