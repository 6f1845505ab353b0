package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// OfDaemonSet reports whether a DaemonSet owns the pod.
func OfDaemonSet(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(ref metaOwner) bool { return ref.Kind == "DaemonSet" })
}

// Terminal reports whether a pod has ended.
func Terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
