package informers

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// trim drops the fields that no plan reads and that take much memory: of a pod, most of it.
func trim(o any) (any, error) {
	if x, err := meta.Accessor(o); err == nil {
		x.SetManagedFields(nil)
		delete(x.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	}
	switch x := o.(type) {
	case *corev1.Pod:
		trimSpec(&x.Spec)
		trimStatus(&x.Status)
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

// trimSpec keeps requests, limits and ports of containers, and the volumes that bind a pod to a node.
func trimSpec(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c := &list[i]
			*c = corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		}
	}
	spec.EphemeralContainers = nil
	spec.Volumes = slices.Clip(slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
	}))
}

// trimStatus keeps what a pod's containers have been given, which counts beside their requests.
func trimStatus(status *corev1.PodStatus) {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range list {
			s := &list[i]
			*s = corev1.ContainerStatus{Name: s.Name, AllocatedResources: s.AllocatedResources, Resources: s.Resources}
		}
	}
	status.EphemeralContainerStatuses, status.HostIPs, status.PodIPs = nil, nil, nil
}
