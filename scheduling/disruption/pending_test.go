package disruption

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A plan tells of the pods that have no node yet, with those that fit nowhere; pods of nodes that are being removed are none of them.
func TestPending(t *testing.T) {
	going := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}}
	}
	waits := func(name, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
		p := pod(name, "", cpu, change...)
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
		return p
	}
	gated := func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} }
	c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od), machine(t, "leaves", "m.large", od, going)},
		pod("a", "n", "1"), pod("moves", "leaves", "2"))
	require.Nil(t, planned(t, Planner{}, c).Pending)
	c.Pods = []*corev1.Pod{waits("fits", "500m"), waits("new-1", "3"), waits("new-2", "900m"), waits("huge", "9"), waits("held", "1", gated), waits("huger", "99")}
	require.Equal(t, &Pending{Pods: 6, Existing: 1, Launched: 2, Launches: 1, Gated: 1, Unschedulable: []string{"shop/huge", "shop/huger"}}, planned(t, Planner{}, c).Pending)
	require.Equal(t, 6, planned(t, Planner{MaxSteps: 1}, c).Pending.Pods)
}
