package scheduling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// What parts of tied problems may buy is what they may if every offer is looked at, and not
// all have to be.
func TestStrataLeaveNothingOut(t *testing.T) {
	solvers := []scheduling.Solver{
		{}, {Weights: scheduling.WeightIgnore}, {Ranking: offerings.Ranking{Strategy: offerings.Prioritized}},
		{Flexibility: scheduling.Flexibility{Types: 3}},
	}
	options, drawn, offers := 0, 0, 0
	for seed := range uint64(300) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 14, Types: 30, Ties: true})
		if p.Validate() != nil {
			continue
		}
		x, y, z, err := scheduling.CheckStrata(&p, &solvers[seed%4], seed%3 == 0)
		require.NoError(t, err, "seed %d", seed)
		options, drawn, offers = options+x, drawn+y, offers+z
	}
	assert.Greater(t, options, 1_000)
	assert.Less(t, drawn, offers*4/5)
}
