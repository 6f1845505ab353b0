package schedulingtest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Check solves the problem and fails the test when a promise about plans is not
// kept: those of [Audit], and that the number of processors does not change the
// plan. It returns the plan, or ends the test when there is none. It changes
// GOMAXPROCS while it runs, so parallel tests should use [Audit] instead.
func Check(t testing.TB, solver scheduling.Solver, p scheduling.Problem) *scheduling.Plan {
	t.Helper()
	plan, err := audit(t.Context(), solver, p)
	if plan == nil {
		t.Fatalf("no plan: %v", err)
	}
	if err != nil {
		t.Error(err)
	}
	return plan
}

// audit is Audit together with the number of processors.
func audit(ctx context.Context, solver scheduling.Solver, p scheduling.Problem) (*scheduling.Plan, error) {
	plan, err := Audit(ctx, solver, p)
	if plan == nil || err != nil {
		return plan, err
	}
	want, err := json.Marshal(plan)
	if err != nil {
		return plan, err
	}
	for _, n := range []int{1, 2, 8} {
		if err := withProcessors(n, func() error {
			return repeats(ctx, solver, p, want, fmt.Sprintf("with GOMAXPROCS=%d", n))
		}); err != nil {
			return plan, err
		}
	}
	return plan, nil
}

// withProcessors runs f with GOMAXPROCS set to n.
func withProcessors(n int, f func() error) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return f()
}
