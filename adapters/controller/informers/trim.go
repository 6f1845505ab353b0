package informers

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// mostTemplates bounds the pods that a trimmer compares new ones with.
const mostTemplates = 10_000

// trimmer makes objects small before they are kept: fields that no plan reads are dropped, pods of one controller share
// the memory of equal fields, and a pod that a new list has unchanged stays the object that it was.
type trimmer struct {
	mu sync.Mutex
	// templates is the last pod of each controller.
	templates map[types.UID]*corev1.Pod
	// pods are those that are kept; nil for none.
	pods cache.Store
}

// trim is a [cache.TransformFunc].
func (t *trimmer) trim(o any) (any, error) {
	if x, err := meta.Accessor(o); err == nil {
		x.SetManagedFields(nil)
		delete(x.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	}
	switch x := o.(type) {
	case *corev1.Pod:
		return t.pod(x), nil
	case *corev1.Node:
		x.Status.Images = nil
	case *appsv1.DaemonSet:
		trimSpec(&x.Spec.Template.Spec)
	case *appsv1.ReplicaSet:
		trimSpec(&x.Spec.Template.Spec)
	case *appsv1.StatefulSet:
		trimSpec(&x.Spec.Template.Spec)
	case *corev1.ReplicationController:
		if x.Spec.Template != nil {
			trimSpec(&x.Spec.Template.Spec)
		}
	}
	return o, nil
}

// pod trims a pod.
func (t *trimmer) pod(pod *corev1.Pod) *corev1.Pod {
	if t.pods != nil {
		if old, ok, err := t.pods.GetByKey(pod.Namespace + "/" + pod.Name); ok && err == nil {
			if old, ok := old.(*corev1.Pod); ok && old.UID == pod.UID && pod.ResourceVersion != "" && old.ResourceVersion == pod.ResourceVersion {
				return old
			}
		}
	}
	trimSpec(&pod.Spec)
	trimStatus(&pod.Status)
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return pod
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if like := t.templates[owner.UID]; like != nil {
		share(pod, like)
	}
	if t.templates == nil || len(t.templates) >= mostTemplates {
		t.templates = map[types.UID]*corev1.Pod{}
	}
	t.templates[owner.UID] = pod
	return pod
}

// share makes a pod have the memory of the fields that are equal in another one.
func share(pod, like *corev1.Pod) {
	if maps.Equal(pod.Labels, like.Labels) {
		pod.Labels = like.Labels
	}
	if maps.Equal(pod.Annotations, like.Annotations) {
		pod.Annotations = like.Annotations
	}
	if reflect.DeepEqual(pod.OwnerReferences, like.OwnerReferences) {
		pod.OwnerReferences = like.OwnerReferences
	}
	spec := like.Spec
	spec.NodeName = pod.Spec.NodeName
	if reflect.DeepEqual(pod.Spec, spec) {
		pod.Spec = spec
	} else if reflect.DeepEqual(pod.Spec.Containers, like.Spec.Containers) { // e.g. pods of a StatefulSet, whose claims differ
		pod.Spec.Containers = like.Spec.Containers
	}
	if reflect.DeepEqual(pod.Status.ContainerStatuses, like.Status.ContainerStatuses) {
		pod.Status.ContainerStatuses = like.Status.ContainerStatuses
	}
}

// trimSpec keeps requests, limits and ports of containers, and the volumes that bind a pod to a node.
func trimSpec(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c := &list[i]
			*c = corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		}
	}
	spec.EphemeralContainers = nil
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
	})
	if len(spec.Volumes) == 0 {
		spec.Volumes = nil
	}
}

// trimStatus keeps what a pod's containers have been given, which counts beside their requests, and whether and since
// when the pod is scheduled and ready.
func trimStatus(status *corev1.PodStatus) {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range list {
			s := &list[i]
			*s = corev1.ContainerStatus{Name: s.Name, AllocatedResources: s.AllocatedResources, Resources: s.Resources}
		}
	}
	var conditions []corev1.PodCondition
	for _, c := range status.Conditions {
		switch c.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.DisruptionTarget, corev1.PodResizePending, corev1.PodResizeInProgress:
			c.Message = ""
			conditions = append(conditions, c)
		}
	}
	status.Conditions, status.EphemeralContainerStatuses, status.HostIPs, status.PodIPs = conditions, nil, nil, nil
}
