package benchmarks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
