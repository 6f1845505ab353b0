package room

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods with the same requests share a vector, pods that are not known have none, and resources that no node has do not
// matter.
func TestRequests(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}}}
	asks := func(name, cpu string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "x"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), "example.com/gpu": resource.MustParse("1")},
		}}}}}
	}
	a, b, big := asks("a", "500m"), asks("b", "500m"), asks("big", "2")
	r := NewRequests([]*corev1.Node{node}, []*corev1.Pod{a, b, big})
	assert.Equal(t, 2, r.Resources())
	assert.Same(t, &r.Of("x/a")[0], &r.Of("x/b")[0], "the same requests share the slice")
	assert.Nil(t, r.Of("x/unknown"))
	assert.Equal(t, []int64{1500, 8}, r.Free(r.Allocatable(node), a, big, asks("unknown", "1"))[:2:2], "no capacity is used by a pod that is not known")
}
