package schedulingtest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeletingOption marks an object that is being deleted.
type DeletingOption struct{}

// Deleting marks a node, a pod, a claim or a volume that is being deleted.
func Deleting() DeletingOption { return DeletingOption{} }

func (DeletingOption) applyNode(n *corev1.Node) {
	markDeleted(&n.ObjectMeta, "karpenter.sh/termination")
}

func (DeletingOption) applyPod(p *corev1.Pod) {
	markDeleted(&p.ObjectMeta, "example.com/keep")
}

func (DeletingOption) applyClaim(c *corev1.PersistentVolumeClaim) {
	markDeleted(&c.ObjectMeta, "kubernetes.io/pvc-protection")
}

func (DeletingOption) applyVolume(v *corev1.PersistentVolume) {
	markDeleted(&v.ObjectMeta, "kubernetes.io/pv-protection")
}

// markDeleted marks an object; a finalizer is what keeps such an object there.
func markDeleted(m *metav1.ObjectMeta, finalizer string) {
	since := metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	m.DeletionTimestamp = &since
	m.Finalizers = append(m.Finalizers, finalizer)
}
