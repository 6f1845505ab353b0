package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

type metaOwner = metav1.OwnerReference

// Going reports whether a node is being removed, so that it receives no pods and
// no longer counts towards its pool's limits.
func Going(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == "ToBeDeletedByClusterAutoscaler"
	})
}
