package verify_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// What the judge keeps from step to step is what it would read anew, after right steps and
// after steps that are wrong in any way.
func TestStepsKeepUpWithTheCluster(t *testing.T) {
	t.Parallel()
	steps, wrong, seeds := 0, 0, race.Fewer(24, 10)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		cluster := st.RandomCluster(seed)
		if seed%4 == 0 {
			cluster = st.Cluster(seed, st.ClusterOptions{Nodes: 8, Spread: true, Apart: true, PDBs: true, DaemonSets: 2})
		}
		planner := disruption.Planner{Solver: scheduling.Solver{Effort: scheduling.EffortFast}, Rebalance: seed%3 == 0}
		if seed%2 == 0 {
			planner.Solver.WorkloadShare = 60
		}
		plan, err := planner.Plan(t.Context(), cluster)
		require.NoError(t, err)
		checker := verify.StepsChecker{Planner: planner, SkipBound: true}
		for range 4 {
			steps += len(plan.Steps)
			require.Empty(t, verify.Drift(checker, cluster, plan), "seed %d", seed)
			spoil(rng, cluster, plan)
			if checker.Steps(cluster, plan) != nil {
				wrong++
			}
		}
	}
	assert.Greater(t, steps, 150*seeds/24)
	assert.Greater(t, wrong, 40*seeds/24)
}

// spoil changes something about the steps of a plan.
func spoil(rng *rand.Rand, c disruption.Cluster, plan *disruption.Plan) {
	if len(plan.Steps) == 0 {
		return
	}
	step := &plan.Steps[rng.IntN(len(plan.Steps))]
	node := c.Nodes[rng.IntN(len(c.Nodes))].Name
	if len(step.Evictions) == 0 {
		step.Drain = append(step.Drain, node)
		return
	}
	i := rng.IntN(len(step.Evictions))
	e := &step.Evictions[i]
	switch rng.IntN(8) {
	case 0, 1:
		e.To = node
	case 2:
		e.Wave++
	case 3:
		e.Wave--
	case 4:
		e.From = node
	case 5:
		step.Evictions = slices.Delete(step.Evictions, i, i+1)
	case 6:
		step.Drain = append(step.Drain, node)
	default:
		step.Launches = nil
	}
}
