package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// problem has the nodes a and b of a pool with limits; b is from the reservation cr. Each node has a pod of the DaemonSet
// agent, and the newer one, on b, requests a core instead of half a core.
func problem() scheduling.Problem {
	kind := st.Type("m", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("a", 10), st.Reserved("a", 1, "cr", 3))
	agent := func(name, node string, milli int64) *corev1.Pod {
		p := st.Pod(name, st.OnNode(node), st.Requests(st.MilliCPU(milli)))
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}
		return p
	}
	return scheduling.Problem{
		Catalog: st.MustCatalog(kind), NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Limit(st.Cores(20)))},
		Nodes: []*corev1.Node{
			st.Node("a", st.OfPool("pool"), st.OfType(kind, kind.Offerings[0])), st.Node("b", st.OfPool("pool"), st.OfType(kind, kind.Offerings[1])),
		},
		DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("agent", st.Requests(st.MilliCPU(500)))},
		Running:    []*corev1.Pod{agent("agent-1", "a", 500), agent("agent-2", "b", 1000)},
	}
}

// TestChangesEqualAnotherReading: a state that a node and its pods have left is that of the problem without them, and equals
// the state before once they are back.
func TestChangesEqualAnotherReading(t *testing.T) {
	t.Parallel()
	p := problem()
	state := snapshot.New(p, scheduling.Policy{})
	leaving, pod := state.Nodes["b"], p.Running[1]

	state.RemovePod(pod)
	state.RemoveNode(leaving)
	without := p
	without.Nodes, without.Running = p.Nodes[:1], p.Running[:1]
	want := snapshot.New(without, scheduling.Policy{})
	assert.Equal(t, want.Left(), state.Left(), "the limits of the pool have more room")
	assert.Equal(t, want.Running, state.Running)
	assert.Len(t, state.Nodes, 1)

	assert.True(t, state.RereadDaemons(), "the newest pod is gone")
	assert.Equal(t, want.Daemons, state.Daemons)
	assert.False(t, state.RereadDaemons())

	state.AddNode(leaving)
	state.AddPod(pod)
	assert.Equal(t, snapshot.New(p, scheduling.Policy{}).Left(), state.Left())
	assert.Equal(t, p.Running[1], state.Running["default/agent-2"])
}

// TestTakeReservation: a node takes a machine of its reservation, and a node without reservation takes none.
func TestTakeReservation(t *testing.T) {
	t.Parallel()
	state := snapshot.New(problem(), scheduling.Policy{})
	state.TakeReservation(state.Nodes["b"], 1)
	state.TakeReservation(state.Nodes["a"], 1)
	assert.Equal(t, map[string]int64{"cr": 2}, state.Reservations)
	state.TakeReservation(state.Nodes["b"], -1)
	assert.Equal(t, map[string]int64{"cr": 3}, state.Reservations)
}

// TestRereadNode: a node has the room that its pods of now leave, and WithPods leaves the state as it was.
func TestRereadNode(t *testing.T) {
	t.Parallel()
	state := snapshot.New(problem(), scheduling.Policy{})
	node := state.Nodes["a"]
	before := node.Free.Of(corev1.ResourceCPU).Int64()
	web := st.Pod("web", st.OnNode("a"), st.Requests(st.Cores(2)))
	state.Reread(node, append(problem().Running[:1], web))
	assert.Equal(t, before-2000, node.Free.Of(corev1.ResourceCPU).Int64())

	other := state.WithPods(map[string]*snapshot.Pod{"default/web": state.Reader.NewPod(web)})
	assert.Len(t, other.PodsNamed([]string{"default/web"}), 1)
	assert.Empty(t, state.PodsNamed([]string{"default/web"}))
}
