package buffers

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// CapacityBufferKind and CapacityBufferVersion are the kind and the API version of CapacityBuffers, the owners of virtual pods.
const (
	CapacityBufferKind    = "CapacityBuffer"
	CapacityBufferVersion = "autoscaling.x-k8s.io/v1beta1"
)

// VirtualPodPriority is the priority of virtual pods: no pod has a lower one.
const VirtualPodPriority int32 = math.MinInt32

// Buffer is room for some pods of one template. The zero value is no room.
type Buffer struct {
	// Namespace and Name are those of the CapacityBuffer.
	Namespace, Name string
	// Template is the template of its pods. Their labels and all constraints count, as those of real pods; volumes with
	// a claim are left out, because a virtual pod has no claims.
	Template corev1.PodTemplateSpec
	// Replicas is the number of pods; below 1 there are none, and never more than 500,000.
	Replicas int
}

// Pods are the virtual pods of the buffer, named capacity-buffer-NAME-1 and so on, as Karpenter names them. They share the
// memory of their specification.
func (b *Buffer) Pods() []*corev1.Pod {
	if b == nil || b.Replicas < 1 {
		return nil
	}
	spec := withoutClaims(b.Template.Spec)
	priority, controller := VirtualPodPriority, true
	spec.NodeName, spec.Priority, spec.PriorityClassName = "", &priority, ""
	out := make([]*corev1.Pod, min(b.Replicas, mostPods))
	for i := range out {
		out[i] = &corev1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: b.Namespace, Name: fmt.Sprintf("capacity-buffer-%s-%d", b.Name, i+1), Labels: b.Template.Labels,
				Annotations:     map[string]string{scheduling.VirtualPodAnnotation: "true"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: CapacityBufferVersion, Kind: CapacityBufferKind, Name: b.Name, Controller: &controller}},
			},
			Spec:   spec,
			Status: corev1.PodStatus{Phase: corev1.PodPending},
		}
	}
	return out
}

// withoutClaims is a specification without volumes that have a claim, and without their mounts.
func withoutClaims(spec corev1.PodSpec) corev1.PodSpec {
	spec = *spec.DeepCopy()
	claimed := map[string]bool{}
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool {
		claimed[v.Name] = v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		return claimed[v.Name]
	})
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			list[i].VolumeMounts = slices.DeleteFunc(list[i].VolumeMounts, func(m corev1.VolumeMount) bool { return claimed[m.Name] })
		}
	}
	return spec
}
