package whatif_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Answers pass both checks on any cluster, and the baseline is what the planner plans, beside nodes for
// pods that are still pending.
func TestAnswersOfRandomClusters(t *testing.T) {
	for seed := range soak.Cases(10) {
		c := schedulingtest.RandomCluster(seed)
		planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		base, err := (&whatif.Question{Planner: planner, Cluster: c}).Answer(t.Context(), nil, nil)
		require.NoError(t, err, "seed %d", seed)
		if len(c.Nodes) > 0 {
			plan, err := planner.Plan(t.Context(), c)
			require.NoError(t, err)
			price := cmp.Or(plan.Summary.ExpectedPerHourAfter, plan.Summary.PricePerHourAfter)
			if base.Pending != nil {
				price += base.Pending.PricePerHour
			}
			require.Equal(t, price, base.PricePerHour, "seed %d", seed)
			require.Equal(t, plan.Summary.PodsMoved, base.PodsMoved, "seed %d", seed)
		}
		planner.Policy.NoSpot = true
		calm, err := (&whatif.Question{Planner: planner, Cluster: c}).Answer(t.Context(), &c, nil)
		require.NoError(t, err, "seed %d", seed)
		base.Name = "baseline"
		calm.Against(base, nil)
		require.Nil(t, calm.Added, "seed %d", seed)
		require.Equal(t, slices.Equal(slices.Sorted(slices.Values(base.Unplaced)), slices.Sorted(slices.Values(calm.Unplaced))), calm.ComparedWith == "baseline", "seed %d", seed)
		same, other := &whatif.Question{Planner: disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}, Cluster: c}, &whatif.Question{Planner: planner, Cluster: c}
		require.NotEmpty(t, same.Unchanged(same), "seed %d", seed)
		if other.Unchanged(same) != "" {
			require.Equal(t, base.PricePerHour, calm.PricePerHour, "seed %d: nothing could change", seed)
			require.Equal(t, base.Unplaced, calm.Unplaced, "seed %d", seed)
		}
	}
}

// Pods of DaemonSets that go with a node are none that a case which keeps the node adds.
func TestAnswersOfClustersWithDaemonSets(t *testing.T) {
	c := schedulingtest.Cluster(1, schedulingtest.ClusterOptions{Nodes: 20, PodsPerNode: 30, MaxCPU: 8, Removed: 0.6, DaemonSets: 2})
	planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
	base, err := (&whatif.Question{Planner: planner, Cluster: c}).Answer(t.Context(), nil, nil)
	require.NoError(t, err)
	base.Name = "baseline"
	require.Positive(t, base.PodsMoved)
	planner.MinSaving.PerHour = 1_000_000_000_000
	idle, err := (&whatif.Question{Planner: planner, Cluster: c}).Answer(t.Context(), &c, nil)
	require.NoError(t, err)
	idle.Against(base, nil)
	require.Greater(t, idle.Nodes, base.Nodes)
	require.Nil(t, idle.Added)
}
