package spotshare_test

import (
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/spotshare"
)

// Pods are chosen in the order that SpotPolicy documents, and each chosen pod that might be on a spot node gets the requirement.
func TestOrderOfChosenPods(t *testing.T) {
	pod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	}
	node := func(name, capacityType string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{offerings.CapacityTypeLabel: capacityType}}}
	}
	excluded, spotOnly := pod("z-excluded", ""), pod("a-spot-only", "")
	excluded.Spec.NodeSelector = map[string]string{offerings.CapacityTypeLabel: "on-demand"}
	spotOnly.Spec.NodeSelector = map[string]string{offerings.CapacityTypeLabel: "spot"}
	daemon, gated := pod("daemon", "n-spot"), pod("gated", "")
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet"}}
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	p := scheduling.Problem{
		Nodes:   []*corev1.Node{node("n-od", "on-demand"), node("n-spot", "spot")},
		Running: []*corev1.Pod{pod("b-on-spot", "n-spot"), pod("d-on-demand", "n-od"), daemon},
		Pods:    []*corev1.Pod{spotOnly, pod("f-pending", ""), pod("e-pending", ""), pod("c-to-spot", ""), pod("g-to-demand", ""), excluded, gated},
		Nominated: map[types.NamespacedName]string{
			{Namespace: "default", Name: "c-to-spot"}: "n-spot", {Namespace: "default", Name: "g-to-demand"}: "n-od",
		},
	}
	want := []string{"z-excluded", "d-on-demand", "g-to-demand", "e-pending", "f-pending", "c-to-spot", "b-on-spot", "a-spot-only"}
	for n := range int32(9) {
		p.SpotPolicies = []*scheduling.SpotPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: scheduling.SpotPolicySpec{
			PodSelector: &metav1.LabelSelector{}, MinOnDemand: n,
		}}}
		division := spotshare.Divide(&p)
		divided, shares := division.Problem, division.Count(nil, func(*corev1.Pod) string { return "" })
		require.Equal(t, want[:n], append([]string{}, lo.Map(shares[0].OnDemandPods, func(pod types.NamespacedName, _ int) string { return pod.Name })...))
		require.Equal(t, 8, shares[0].Pods)
		require.Empty(t, divided.SpotPolicies)
		changed := lo.CountBy(append(divided.Pods, divided.Running...), func(pod *corev1.Pod) bool { return pod.Spec.Affinity != nil })
		require.Equal(t, max(0, int(n)-1), changed, "the first pod has a node selector already")
	}
	require.Nil(t, p.Pods[1].Spec.Affinity, "the problem is not changed")
}
