package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// ec2Types sells machines of EC2 in three zones: all, or those of some families.
func ec2Types(t testing.TB, families string) *instancetypes.Catalog {
	t.Helper()
	c := ec2.MustCatalog("us-east-1").Filter(instancetypes.ByZone("us-east-1a", "us-east-1b", "us-east-1d"))
	if families == "" {
		return c
	}
	f, err := instancetypes.ParseFilter("family in (" + families + ")")
	require.NoError(t, err)
	return c.Filter(f)
}

// realistic is a cluster as production has them: two pools with the default budgets, whose nodes
// were bought bit by bit, five DaemonSets, nodes that no pool owns, Deployments and StatefulSets
// with PodDisruptionBudgets, spread and anti-affinity. One in ten may buy all that EC2 sells.
func realistic(t testing.TB, seed uint64) disruption.Cluster {
	t.Helper()
	families := "c6i,m6i,r6i,c6a,m7i,r7a,c7g,m7g,r7g"
	if seed%10 == 9 {
		families = ""
	}
	pools := []*scheduling.NodePool{
		st.NodePool("general", st.Where(st.In(offerings.CapacityTypeLabel, string(offerings.OnDemand)), st.In("kubernetes.io/arch", "amd64"))),
		st.NodePool("spot", st.Where(st.In(offerings.CapacityTypeLabel, string(offerings.Spot)), st.In("kubernetes.io/arch", "amd64", "arm64"))),
	}
	if seed%3 == 0 {
		pools[1] = st.NodePool("arm", st.Where(st.In(offerings.CapacityTypeLabel, string(offerings.Spot), string(offerings.OnDemand)), st.In("kubernetes.io/arch", "arm64")))
	}
	after := time.Duration(seed%2) * 30 * time.Second
	for _, p := range pools {
		p.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: &after}
	}
	sizes := []int{10, 27, 20, 27, 60, 27, 40, 15, 27, 40, 27, 100}
	return st.Cluster(seed, st.ClusterOptions{
		Nodes: sizes[seed%uint64(len(sizes))], PodsPerNode: 8, MaxCPU: 8, Catalog: ec2Types(t, families), Spot: true, PDBs: true, Spread: true, Apart: true, Various: true,
		DaemonSets: 5, Batches: 8, Unmanaged: 3, Pools: pools,
	})
}

// In clusters as production has them, every step keeps to all budgets, and when the steps are done
// and consolidateAfter has passed, the next plan saves next to nothing.
func TestRealisticClusters(t *testing.T) {
	for seed := range soak.Cases(1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := realistic(t, seed)
			start := time.Now()
			plan, err := disruption.Planner{}.Plan(context.Background(), c)
			require.NoError(t, err)
			took := time.Since(start)
			require.NoError(t, verify.Steps(c, plan))
			moved := map[string]bool{}
			for i := range plan.Steps {
				for _, e := range plan.Steps[i].Evictions {
					require.False(t, moved[e.Pod], "%s moves twice", e.Pod)
					moved[e.Pod] = true
				}
			}
			again, err := disruption.Planner{}.Plan(context.Background(), st.Apply(c, time.Hour, plan.Steps...))
			require.NoError(t, err)
			s, next := plan.Summary, again.Summary
			left := 100 * float64(next.PricePerHourBefore-next.PricePerHourAfter) / float64(next.PricePerHourBefore)
			t.Logf("%d nodes, %d pods: %v -> %v, bound %v, %d nodes, %d steps, %d pods move, %d launches, %v; the next plan saves %.2f %% in %d steps",
				len(c.Nodes), len(c.Running), s.PricePerHourBefore, s.PricePerHourAfter, s.LowerBoundPerHour, s.NodesAfter, len(plan.Steps), s.PodsMoved, s.Launches, took, left, len(again.Steps))
			require.True(t, slices.ContainsFunc(plan.Steps, func(s disruption.Step) bool { return saves(&s) }))
			require.Less(t, left, 0.5)
		})
	}
}

// In clusters as many users have them, whose nodes are of many shapes and whose pool has limits and a budget of a tenth,
// plans are right whoever places the pods, and where pods go where they are told nothing is left to save.
func TestUsedClusters(t *testing.T) {
	if race.Enabled {
		t.Skip("a minute under the race detector, and nothing that smaller clusters do not run")
	}
	for seed := range soak.Cases(1) {
		c := st.UsedCluster(seed, 8, ec2Types(t, "c5,m5,m6i,r5,c6i"))
		p := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		for _, p := range []disruption.Planner{p, freely(p)} {
			plan, err := p.Plan(t.Context(), c)
			require.NoError(t, err)
			require.NoError(t, verify.StepsChecker{Planner: p, SkipBound: true}.Steps(c, plan), "seed %d", seed)
			require.Less(t, plan.Summary.PricePerHourAfter, plan.Summary.PricePerHourBefore, "seed %d", seed)
			if p.Policy.Placement == scheduling.PlacementPinned {
				require.NoError(t, calmed(p, c, plan), "seed %d", seed)
			}
		}
	}
}
