package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Pending reports whether a pod waits for a node: not bound, not ended, not being
// deleted, and nobody else's to place.
func Pending(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !Terminal(pod) && !OfDaemonSet(pod)
}

// OfDaemonSet reports whether a DaemonSet owns the pod.
func OfDaemonSet(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(ref metaOwner) bool { return ref.Kind == "DaemonSet" })
}

// Terminal reports whether a pod has ended.
func Terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

type metaOwner = metav1.OwnerReference

// Going reports whether a node is being removed, so that it receives no pods and
// no longer counts towards its pool's limits.
func Going(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == "ToBeDeletedByClusterAutoscaler"
	})
}
