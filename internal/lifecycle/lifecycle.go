package lifecycle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ended reports whether a pod has run to its end (phase Succeeded or Failed).
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Leaving reports whether a pod has ended or is being deleted.
func Leaving(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil || Ended(pod) }

// OfDaemonSet reports whether a DaemonSet owns a pod.
func OfDaemonSet(pod *corev1.Pod) bool { return ownedBy(pod, "DaemonSet") }

// Static reports whether a pod is the mirror pod of a static pod, which a kubelet runs from a file.
func Static(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || ownedBy(pod, "Node")
}

// ownedBy reports whether an object of a kind owns a pod. Owners that are not marked as controllers count, because
// hand-written manifests leave the mark out.
func ownedBy(pod *corev1.Pod, kind string) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == kind })
}

// Evictable reports whether a pod has to leave its node before the node is removed: not the pods of DaemonSets, static
// pods, and pods that have ended.
func Evictable(pod *corev1.Pod) bool { return !OfDaemonSet(pod) && !Static(pod) && !Ended(pod) }

// Ready returns the condition Ready of a node; nil if the node does not have it, e.g. because it has just joined, or
// because its manifest has no status.
func Ready(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c
		}
	}
	return nil
}
