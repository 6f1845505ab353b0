package scheduling_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Whatever the bound leaves out of account, something that makes it pointless is there.
func TestBuyableHasStandIns(t *testing.T) {
	dropped, problems := 0, 0
	for seed := range uint64(400) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 12, Types: 12, Pools: 4, Nodes: 3, DaemonSets: 3})
		if p.Validate() != nil {
			continue
		}
		n, err := scheduling.CheckBuyable(&p, &scheduling.Solver{})
		require.NoError(t, err, "seed %d", seed)
		problems++
		dropped += n
	}
	assert.Greater(t, problems, 300)
	assert.Greater(t, dropped, 1000, "many offers are pointless")
}

// What cases are told apart with is there at every price at which it is on sale, and the same
// where it is remembered.
func TestChoicesHaveStandIns(t *testing.T) {
	t.Parallel()
	problems, choices := 0, 0
	for seed := range uint64(150) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 12, Types: 12, Pools: 4, Nodes: 3, DaemonSets: 3})
		if p.Validate() != nil {
			continue
		}
		n, err := scheduling.CheckChoices(&p, &scheduling.Solver{})
		require.NoError(t, err, "seed %d", seed)
		problems++
		choices += n
	}
	assert.Greater(t, problems, 100)
	assert.Greater(t, choices, 1000)
}

// A deadline that has passed leaves a bound that is proven all the same.
func TestBoundPastTheDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	bounds := 0
	for seed := range uint64(60) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 40, Types: 12, Pools: 3})
		late, err := scheduling.Solver{}.Solve(ctx, p)
		if err != nil {
			require.ErrorIs(t, err, scheduling.ErrInvalid)
			continue
		}
		require.NoError(t, verify.Plan(p, late), "seed %d", seed)
		if late.Summary.Certificate != nil {
			assert.Contains(t, []string{"resource", "assignment"}, late.Summary.Certificate.Kind, "seed %d", seed)
			bounds++
		}
	}
	assert.Greater(t, bounds, 20)
}
