package disruption

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// virtualPod is a pending pod of a CapacityBuffer.
func virtualPod(name, cpu string) *corev1.Pod {
	return pod(name, "", cpu, func(p *corev1.Pod) {
		p.Annotations = map[string]string{scheduling.VirtualPodAnnotation: "true"}
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	})
}

// A node that only has room for a virtual pod is not empty, and stays while the room is nowhere else; where other nodes have
// room, it goes, and the room moves there.
func TestRoomOfVirtualPods(t *testing.T) {
	nodes := func() []*corev1.Node {
		return []*corev1.Node{machine(t, "busy", "m.large", od), machine(t, "idle", "m.large", od)}
	}
	c := world(t, pool(), nodes(), pod("a", "busy", "1"))
	require.Len(t, planned(t, Planner{Reasons: []Reason{Empty}}, c).Steps, 1, "without virtual pods the idle node is empty")

	c.Pods = []*corev1.Pod{virtualPod("spare", "1500m")}
	plan := planned(t, Planner{Reasons: []Reason{Empty}}, c)
	require.Equal(t, []scheduling.Assignment{{Node: "idle", Pods: []string{"shop/spare"}}}, plan.Room)
	require.Nil(t, plan.Pending)
	require.Empty(t, plan.Steps)

	c.Nodes = append(c.Nodes, machine(t, "other", "m.large", od))
	c.Running = append(c.Running, pod("b", "other", "100m"))
	for _, placement := range []scheduling.PlacementPolicy{scheduling.PlacementPinned, scheduling.PlacementFree} {
		plan = planned(t, Planner{Policy: scheduling.Policy{Placement: placement}}, c)
		require.Equal(t, 2, plan.Summary.NodesAfter, "a, b and the room need 2 nodes")
		evicted := 0
		for i := range plan.Steps {
			evicted += plan.Steps[i].PodsMoved()
		}
		require.Equal(t, plan.Summary.PodsMoved, evicted)
	}
}

// A node that has drifted goes although it has room for a virtual pod: the room is on the node that is launched in its place.
func TestRoomMovesWithDrift(t *testing.T) {
	idle := machine(t, "idle", "m.large", od)
	c := world(t, pool(), []*corev1.Node{idle})
	c.Machines = []Machine{{Node: "idle", Drift: "AMIDrift"}}
	c.Pods = []*corev1.Pod{virtualPod("spare", "1500m")}
	plan := planned(t, Planner{Reasons: []Reason{Drifted}}, c)
	require.Len(t, plan.Steps, 1)
	require.Len(t, plan.Steps[0].Launches, 1)
	require.Equal(t, []Eviction{{Pod: "shop/spare", From: "idle", To: plan.Steps[0].Launches[0].Name, Wave: 1, Virtual: true}}, plan.Steps[0].Evictions)
	require.Zero(t, plan.Summary.PodsMoved)
}
