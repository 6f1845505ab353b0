package podspec

import (
	corev1 "k8s.io/api/core/v1"
)

// Pending reports whether a pod waits for a node: not bound, not ended, not being
// deleted, and nobody else's to place.
func Pending(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !Terminal(pod) && !OfDaemonSet(pod)
}
