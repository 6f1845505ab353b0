package benchmarks

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// The corpora are what the README says they are, every pod of them can be placed, and
// a fast plan of each passes the second opinion. This runs with the ordinary tests, so
// that a benchmark cannot rot until somebody runs it.
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
			solver := scheduling.Solver{Effort: scheduling.EffortFast}
			plan, err := solver.Solve(t.Context(), p)
			require.NoError(t, err)
			assert.Empty(t, plan.Unschedulable)
			assert.Positive(t, plan.Summary.LowerBoundPerHour)
			assert.NoError(t, verify.Checker{Solver: solver, SkipRefusals: true}.Plan(p, plan))
		})
	}
}

// Wishes that cannot all be granted cost at most ten times what the same pods cost
// without them, and the plan takes at most ten times as long.
func TestWishesCostLittle(t *testing.T) {
	solve := func(wishes bool) (offerings.Price, time.Duration) {
		p := wishful(t, wishes)
		var price offerings.Price
		fastest := time.Duration(math.MaxInt64)
		for range 3 {
			start := time.Now()
			plan, err := scheduling.Solver{}.Solve(t.Context(), p)
			fastest = min(fastest, time.Since(start))
			require.NoError(t, err)
			require.Empty(t, plan.Unschedulable)
			price = plan.Summary.PricePerHour
		}
		return price, fastest
	}
	with, slow := solve(true)
	without, quick := solve(false)
	assert.LessOrEqual(t, with, 10*without)
	assert.LessOrEqual(t, slow, 10*quick)
}
