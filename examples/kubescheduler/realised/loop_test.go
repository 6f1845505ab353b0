package realised_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// spoilt is a problem whose cheapest plan kube-scheduler spoils: two small pods are meant
// for the small machine, and go to the large one, which the big pod was to fill.
func spoilt() *scheduling.Problem {
	return &scheduling.Problem{
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot("zone-a", st.Cents(2))),
			st.Type("large", st.Capacity(st.Cores(8), st.GiB(32)), st.Spot("zone-a", st.Cents(8)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods: append(st.Pods(2, "little", st.Requests(st.Cores(1), st.GiB(1)), st.Priority(10)),
			st.Pod("big", st.Requests(st.Cores(8), st.GiB(1)))),
	}
}

func newLoop(t *testing.T, p *scheduling.Problem) *realised.Loop {
	t.Helper()
	loop, err := realised.NewLoop(t.Context(), provisioning.Planner{}, p)
	require.NoError(t, err)
	return loop
}

// Nodes are bought for pods that are left over; nominated pods leave none over.
func TestLoop(t *testing.T) {
	p := spoilt()
	loop := newLoop(t, p)
	free, err := loop.Run(t.Context(), realised.Way{})
	require.NoError(t, err)
	assert.Equal(t, st.Cents(10), free.Planned)
	assert.Equal(t, st.Cents(18), free.Realised)
	assert.Equal(t, 3, free.Pods)
	assert.Equal(t, 3, free.Elsewhere)
	assert.Equal(t, 2, free.Rounds)
	assert.Equal(t, 1, free.Later)
	assert.Zero(t, free.Waiting)

	for _, nominated := range []realised.Nominated{realised.All, realised.InTurn} {
		kept, err := loop.Run(t.Context(), realised.Way{Nominated: nominated})
		require.NoError(t, err)
		assert.Equal(t, kept.Planned, kept.Realised)
		assert.Zero(t, kept.Elsewhere)
		assert.Equal(t, 1, kept.Rounds)
	}
}

// The same order of pods ends in the same cluster, whatever was run before; other orders may end in others.
func TestLoopRepeats(t *testing.T) {
	p := &scheduling.Problem{
		Catalog:   spoilt().Catalog,
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods:      st.MixedSizes(60, 1),
	}
	before := st.YAML(*p)
	loop := newLoop(t, p)
	ways := []realised.Way{{}, {Order: 1}, {Batches: 3}, {Batches: 3, Order: 1}}
	var first []realised.Outcome
	for range 2 {
		for i, way := range ways {
			got, err := loop.Run(t.Context(), way)
			require.NoError(t, err)
			require.GreaterOrEqual(t, got.Realised, got.Planned)
			require.Zero(t, got.Waiting)
			if len(first) < len(ways) {
				first = append(first, *got)
			}
			require.Equal(t, first[i], *got)
		}
	}
	assert.Equal(t, before, st.YAML(*p))
}

// A plan of another planner is carried out in the same way. Pods that it leaves out are bound where there is room, and
// then to nodes of the planner.
func TestLoopFrom(t *testing.T) {
	p := spoilt()
	p.Pods = append(p.Pods, st.Pod("huge", st.Requests(st.Cores(64))))
	theirs := &scheduling.Plan{Launches: []scheduling.Launch{{
		Name: "theirs", NodePool: "default", Pods: []string{"default/big"},
		Options: []scheduling.LaunchOption{{InstanceType: "large", Zone: "zone-a", CapacityType: "spot"}},
	}}}
	loop, err := realised.NewLoopFrom(t.Context(), provisioning.Planner{}, p, theirs)
	require.NoError(t, err)
	got, err := loop.Run(t.Context(), realised.Way{})
	require.NoError(t, err)
	assert.Equal(t, st.Cents(8), got.Planned)
	assert.Equal(t, st.Cents(10), got.Bound)
	assert.Equal(t, st.Cents(16), got.Realised, "little pods come first, and the big one needs another machine")
	assert.Equal(t, []int{1, 1, 3, 2, 1, 0}, []int{got.Pods, got.Unschedulable, got.Elsewhere, got.Rounds, got.Later, got.Waiting})

	theirs.Launches[0].Options[0].Zone = "zone-b"
	_, err = realised.NewLoopFrom(t.Context(), provisioning.Planner{}, p, theirs)
	assert.ErrorContains(t, err, "launch theirs of the plan: the catalog does not sell")
}

// Pods that no machine holds are counted, and nothing waits for them.
func TestLoopUnschedulable(t *testing.T) {
	p := spoilt()
	p.Pods = append(p.Pods, st.Pod("huge", st.Requests(st.Cores(64))))
	got, err := newLoop(t, p).Run(t.Context(), realised.Way{Nominated: realised.All})
	require.NoError(t, err)
	assert.Equal(t, 1, got.Unschedulable)
	assert.Equal(t, 3, got.Pods)
	assert.Zero(t, got.Waiting)
}

// Nodes that are there are used, and cost nothing more.
func TestLoopNodes(t *testing.T) {
	p := spoilt()
	p.Nodes = append(p.Nodes, st.Node("old", st.Allocatable(st.Cores(4), st.GiB(16))))
	p.Running = append(p.Running, st.Pod("resident", st.Requests(st.Cores(2), st.GiB(1)), st.OnNode("old")))
	got, err := newLoop(t, p).Run(t.Context(), realised.Way{})
	require.NoError(t, err)
	assert.Equal(t, st.Cents(8), got.Planned)
	assert.GreaterOrEqual(t, got.Realised, got.Planned)
	assert.Zero(t, got.Waiting)
}

func TestMixes(t *testing.T) {
	for _, m := range realised.Mixes() {
		p := m.Problem(1, ec2.MustCatalog("us-east-1"))
		require.NoError(t, provisioning.Validate(p), m.Name)
		require.NotEmpty(t, m.About)
		require.Equal(t, p.Pods, m.Problem(1, p.Catalog).Pods)
	}
}
