package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Without new spot nodes the cluster rebuilt from scratch has none either: its spot nodes are nodes of the cluster. The lower
// bound may be below its price, because it is proven for clusters that keep such nodes.
func TestRebuiltWithoutSpot(t *testing.T) {
	rebuilt := 0
	for seed := range soak.Cases(60) {
		c, planner := st.RandomCluster(seed), dearPlanner(seed)
		planner.Policy.NoSpot = true
		plan, err := planner.Plan(t.Context(), c)
		require.NoError(t, err)
		if plan.Summary.Rebuilt == nil {
			continue
		}
		for _, kind := range plan.Summary.Rebuilt.Composition {
			if kind.CapacityType == offerings.Spot {
				require.Equal(t, kind.Existing, kind.Nodes, "seed %d: %+v", seed, kind)
			}
			rebuilt += kind.Nodes - kind.Existing
		}
	}
	require.True(t, race.Enabled || rebuilt > 20, "clusters are rebuilt with other nodes")
}

// Pods that need spot have no node in the cluster rebuilt from scratch if no spot node may be launched: it says so. The bound
// counts them, because their node may stay.
func TestRebuiltSaysWhichPodsItLeavesOut(t *testing.T) {
	large := st.Type("m.large", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)), st.Spot("a", st.Cents(3)))
	pool := st.NodePool("default")
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	node := func(name string, paid offerings.CapacityType) *corev1.Node {
		return st.Node(name, st.OfPool("default"), st.OfType(large, offerings.Offering{Zone: "a", CapacityType: paid}))
	}
	pod := func(name, on string, opts ...st.PodOption) *corev1.Pod {
		return st.Pod(name, append(opts, st.OwnedBy("ReplicaSet", "web"), st.OnNode(on), st.Requests(st.Cores(1)))...)
	}
	c := disruption.Cluster{Problem: scheduling.Problem{
		Now: time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), Catalog: st.MustCatalog(large), NodePools: []*scheduling.NodePool{pool},
		Nodes: []*corev1.Node{node("cheap", offerings.Spot), node("dear", offerings.OnDemand)},
		Running: []*corev1.Pod{
			pod("batch", "cheap", st.Select(offerings.CapacityTypeLabel, string(offerings.Spot))),
			pod("data", "dear", st.Select(offerings.CapacityTypeLabel, string(offerings.OnDemand))),
		},
	}}
	planner := disruption.Planner{Policy: scheduling.Policy{NoSpot: true}}
	plan, err := planner.Plan(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, verify.StepsChecker{Planner: planner}.Steps(c, plan))
	require.Equal(t, st.Cents(10), plan.Summary.Rebuilt.PricePerHour)
	require.Equal(t, []string{"default/batch"}, plan.Summary.Rebuilt.LeftOut)
	require.Empty(t, plan.Summary.LeftOut)
	require.Equal(t, st.Cents(13), plan.Summary.LowerBoundPerHour)
}
