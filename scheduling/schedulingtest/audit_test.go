package schedulingtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestAuditPassesAnErrorOn(t *testing.T) {
	p := rich()
	p.Pods = append(p.Pods, nil)
	plan, err := Audit(t.Context(), scheduling.Solver{}, p)
	assert.Nil(t, plan)
	assert.ErrorIs(t, err, scheduling.ErrInvalid)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan, err = Audit(ctx, scheduling.Solver{}, rich())
	assert.Nil(t, plan)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestBreachesNoticeABadPlan(t *testing.T) {
	p := Random(3, Size{Pools: 1})
	solver := scheduling.Solver{Effort: scheduling.EffortFast}
	plan, err := Audit(t.Context(), solver, p)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Launches)
	assert.NoError(t, breaches(solver, p, plan))
	assert.EqualError(t, breaches(solver, p, nil), "neither a plan nor an error")

	plan.Summary.LowerBoundPerHour = plan.Summary.PricePerHour + 1
	assert.ErrorContains(t, breaches(solver, p, plan), "exceeds the price")

	plan.Launches = plan.Launches[1:]
	assert.ErrorContains(t, breaches(solver, p, plan), "pod-missing")
}

func TestRepeatsNoticesAnotherPlan(t *testing.T) {
	p := Random(3, Size{})
	err := repeats(t.Context(), scheduling.Solver{Effort: scheduling.EffortFast}, p, []byte(`{"launches":[]}`), "again")
	assert.ErrorContains(t, err, "solving again gives another plan: at byte ")
}

func TestReadsBack(t *testing.T) {
	assert.ErrorContains(t, readsBack([]byte(`{"launches":7}`)), "does not read back")
	assert.ErrorContains(t, readsBack([]byte(`{"unheard":"of"}`)), "changes when it is read and written")
}

func TestCheckReturnsThePlan(t *testing.T) {
	plan := Check(t, scheduling.Solver{}, Random(5, Size{}))
	assert.Equal(t, plan.Summary.Pods, plan.Summary.Placed+len(plan.Unschedulable))
}

func TestDifference(t *testing.T) {
	assert.Equal(t, "at byte 2\n  want …abc…\n  got  …abd…", difference([]byte("abc"), []byte("abd")))
	assert.Equal(t, "at byte 2\n  want …ab…\n  got  …abd…", difference([]byte("ab"), []byte("abd")))
}
