package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod is a pending pod of the namespace "default" with one container, called
// "main", that asks for nothing unless an option says so.
func Pod(name string, opts ...PodOption) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	var ties []tiePod
	for _, o := range opts {
		if t, ok := o.(tiePod); ok {
			ties = append(ties, t)
			continue
		}
		o.applyPod(p)
	}
	for _, t := range ties {
		t.applyPod(p)
	}
	p.UID = types.UID(p.Namespace + "/" + p.Name)
	return p
}

// Pods is n pods that differ in nothing but their names, name-1 to name-n.
func Pods(n int, name string, opts ...PodOption) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, max(n, 0))
	for i := range n {
		pods = append(pods, Pod(fmt.Sprintf("%s-%d", name, i+1), opts...))
	}
	return pods
}

// Priority gives the pod a priority.
func Priority(n int32) PodOption {
	return podFunc(func(p *corev1.Pod) { p.Spec.Priority = &n })
}

// OnNode binds the pod to a node, where it runs.
func OnNode(name string) PodOption {
	return podFunc(func(p *corev1.Pod) {
		p.Spec.NodeName = name
		p.Status.Phase = corev1.PodRunning
	})
}

// Phase sets the phase of the pod's status.
func Phase(phase corev1.PodPhase) PodOption {
	return podFunc(func(p *corev1.Pod) { p.Status.Phase = phase })
}

// OwnedByDaemonSet makes the pod one of a DaemonSet.
func OwnedByDaemonSet(name string) PodOption {
	return podFunc(func(p *corev1.Pod) {
		controller := true
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: "DaemonSet", Name: name,
			UID: daemonSetUID(p.Namespace, name), Controller: &controller,
		})
	})
}
