package explain

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// trial returns a trial of a pod in a cluster with one node and one NodePool, and notes the updates.
func trial(pod *corev1.Pod) (*Trial, *scheduling.Delta) {
	var updates scheduling.Delta
	p := &scheduling.Problem{
		Nodes:     []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a"}, {Key: "b"}}}}},
		NodePools: []*scheduling.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "pool"}, Spec: scheduling.NodePoolSpec{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
	}
	return &Trial{
		Pod: pod, Problem: p, Policy: &scheduling.Policy{NoSpot: true}, PolicyChanged: func() {},
		Running: func(func(*corev1.Pod, string) bool) {},
		Update:  func(d scheduling.Delta) error { updates = d; return nil },
	}, &updates
}

func TestApply(t *testing.T) {
	t.Run("the pod", func(t *testing.T) {
		x, _ := trial(&corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}, SchedulingGates: []corev1.PodSchedulingGate{{Name: "g"}}}})
		assert.True(t, x.Apply(&scheduling.Change{
			Kind: scheduling.ChangeSelector, Key: "disk", Values: []string{"hdd"},
			And: []scheduling.Change{{Kind: scheduling.ChangeToleration, Key: "a", Effect: "NoSchedule"}, {Kind: scheduling.ChangeGate, Object: "g"}},
		}), "changes that belong together are made together")
		assert.Equal(t, map[string]string{"disk": "hdd"}, x.Pod.Spec.NodeSelector)
		assert.Len(t, x.Pod.Spec.Tolerations, 1)
		assert.Empty(t, x.Pod.Spec.SchedulingGates)
		assert.False(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeGate, Object: "g"}), "a gate that is not there cannot be removed")
	})
	t.Run("the cluster", func(t *testing.T) {
		x, updates := trial(&corev1.Pod{})
		assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeTaint, Object: "Node/n", Key: "a"}))
		assert.Equal(t, []corev1.Taint{{Key: "b"}}, updates.Nodes[0].Spec.Taints)
		assert.Len(t, x.Problem.Nodes[0].Spec.Taints, 2, "objects are changed by copies")
		assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeLimit, Object: "NodePool/pool", Key: "cpu", To: "2"}))
		assert.Equal(t, resource.MustParse("2"), updates.NodePools[0].Spec.Limits["cpu"])
		assert.False(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeTaint, Object: "Node/gone", Key: "a"}))
	})
	t.Run("the policy", func(t *testing.T) {
		x, _ := trial(&corev1.Pod{})
		assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeSpot}))
		assert.False(t, x.Policy.NoSpot)
	})
	t.Run("changes that are told and not tried", func(t *testing.T) {
		x, _ := trial(&corev1.Pod{})
		for _, kind := range []scheduling.ChangeKind{scheduling.ChangeNomination, scheduling.ChangeOrder, scheduling.ChangeHold, "unheard of"} {
			assert.False(t, x.Apply(&scheduling.Change{Kind: kind}), kind)
		}
	})
}
