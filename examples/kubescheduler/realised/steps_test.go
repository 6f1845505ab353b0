package realised_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Steps that are planned for kube-scheduler's own choice of nodes reach the price of the plan, and a lower one than
// steps that expect pods to be bound where the plan says.
func TestSteps(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	var free, expected, pinned, planned float64
	waited, moved := 0, 0
	for seed := range seeds {
		c := st.Cluster(seed, st.ClusterOptions{Nodes: 20, Removed: 0.5, Spot: seed == 1, PDBs: seed == 2, Spread: seed == 3, Apart: seed == 3})
		before := st.YAML(c.Problem)
		for _, place := range []scheduling.PlacementPolicy{scheduling.PlacementFree, scheduling.PlacementPinned} {
			policy := scheduling.Policy{Placement: place, Effort: scheduling.EffortFast}
			plan, err := disruption.Planner{Policy: policy}.Plan(t.Context(), c)
			require.NoError(t, err)
			steps := realised.Steps{Cluster: &c, Plan: plan, Planner: provisioning.Planner{Policy: policy}}
			for order := range uint64(2) {
				got, err := steps.Run(t.Context(), order)
				require.NoError(t, err)
				again, err := steps.Run(t.Context(), order)
				require.NoError(t, err)
				require.Equal(t, got, again)
				require.GreaterOrEqual(t, got.Realised, got.Planned)
				require.Zero(t, got.Waiting)
				require.Positive(t, got.Moved)
				if place == scheduling.PlacementPinned {
					pinned, planned = pinned+got.Realised.USD(), planned+got.Planned.USD()
					continue
				}
				free, expected = free+got.Realised.USD(), expected+got.Expected.USD()
				waited, moved = waited+got.Waited, moved+got.Moved
			}
		}
		require.Equal(t, before, st.YAML(c.Problem))
	}
	t.Logf("free %.3f, expected %.3f; pinned %.3f, planned %.3f; %d of %d pods wait", free, expected, pinned, planned, waited, moved)
	assert.Less(t, free, 1.01*expected)
	assert.Less(t, waited, moved/25)
}

// A pod that lands on a node which a later step drains has to leave it again, unless the node was closed before; and for
// a pod that finds its place taken a machine is bought.
func TestStepsGoAstray(t *testing.T) {
	small := st.Type("small", st.Capacity(st.Cores(4), st.GiB(16)), st.Spot("zone-a", st.Cents(4)))
	c := disruption.Cluster{Problem: scheduling.Problem{Catalog: st.MustCatalog(small), NodePools: []*scheduling.NodePool{st.NodePool("default")}}}
	for i, name := range []string{"a", "b", "c"} {
		c.Nodes = append(c.Nodes, st.Node(name, st.Allocatable(st.Cores(4), st.GiB(16)), st.OfPool("default")))
		c.Running = append(c.Running, st.Pod("on-"+name, st.Requests(st.Cores([]int64{2, 1, 2}[i]), st.GiB(1)), st.OnNode(name)))
	}
	plan := &disruption.ConsolidationPlan{Steps: []disruption.Step{
		{Drain: []string{"a"}, Evictions: []disruption.Eviction{{Pod: "default/on-a", From: "a", To: "c", Wave: 1}}},
		{Drain: []string{"b"}, Evictions: []disruption.Eviction{{Pod: "default/on-b", From: "b", To: "", Wave: 1}}},
	}}
	steps := realised.Steps{Cluster: &c, Plan: plan, Planner: provisioning.Planner{}}
	got, err := steps.Run(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, realised.StepsOutcome{Nodes: 3, Pods: 3, Steps: 2, Moved: 3, Elsewhere: 2, Waited: 1, Later: 1, Realised: st.Cents(4)}, *got)
	plan.Cordon = []string{"b"}
	got, err = steps.Run(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, realised.StepsOutcome{Nodes: 3, Pods: 3, Steps: 2, Moved: 2, Waited: 1, Later: 1, Realised: st.Cents(4)}, *got)
}

func TestClusterKinds(t *testing.T) {
	for _, k := range realised.ClusterKinds() {
		catalog := ec2.MustCatalog("us-east-1")
		c := k.Cluster(1, catalog)
		require.NotEmpty(t, k.About)
		require.GreaterOrEqual(t, len(c.Nodes), 10, k.Name)
		require.LessOrEqual(t, len(c.Nodes), 100, k.Name)
		require.Equal(t, c, k.Cluster(1, catalog))
	}
}
