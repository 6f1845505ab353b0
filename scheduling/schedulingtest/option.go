package schedulingtest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// PodOption says one thing about a pod.
type PodOption interface{ applyPod(*corev1.Pod) }

// NodePoolOption says one thing about a NodePool.
type NodePoolOption interface {
	applyNodePool(*scheduling.NodePool)
}

// NodeOption says one thing about a node.
type NodeOption interface{ applyNode(*corev1.Node) }

// TypeOption says one thing about an instance type.
type TypeOption interface {
	applyType(*instancetypes.InstanceType)
}

type (
	podFunc  func(*corev1.Pod)
	poolFunc func(*scheduling.NodePool)
	nodeFunc func(*corev1.Node)
	typeFunc func(*instancetypes.InstanceType)
)

func (f podFunc) applyPod(p *corev1.Pod)                   { f(p) }
func (f poolFunc) applyNodePool(p *scheduling.NodePool)    { f(p) }
func (f nodeFunc) applyNode(n *corev1.Node)                { f(n) }
func (f typeFunc) applyType(t *instancetypes.InstanceType) { f(t) }

// LabelOption is a label of a pod, of the nodes of a NodePool, of a node or of an
// instance type.
type LabelOption struct{ key, value string }

// Label sets a label.
func Label(key, value string) LabelOption { return LabelOption{key, value} }

func (l LabelOption) applyPod(p *corev1.Pod) { p.Labels = l.into(p.Labels) }

func (l LabelOption) applyNodePool(p *scheduling.NodePool) {
	m := &p.Spec.Template.Metadata
	m.Labels = l.into(m.Labels)
}

func (l LabelOption) applyNode(n *corev1.Node) { n.Labels = l.into(n.Labels) }

func (l LabelOption) applyType(t *instancetypes.InstanceType) { t.Labels = l.into(t.Labels) }

func (l LabelOption) into(labels map[string]string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[l.key] = l.value
	return labels
}

// TaintOption is a taint of a node or of the nodes of a NodePool.
type TaintOption struct {
	taint   corev1.Taint
	startup bool
}

// Taint adds a taint.
func Taint(key, value string, effect corev1.TaintEffect) TaintOption {
	return TaintOption{taint: corev1.Taint{Key: key, Value: value, Effect: effect}}
}

// StartupTaint adds a taint that new nodes of a NodePool carry until something
// removes it. On a node it is a taint like any other.
func StartupTaint(key, value string, effect corev1.TaintEffect) TaintOption {
	return TaintOption{taint: corev1.Taint{Key: key, Value: value, Effect: effect}, startup: true}
}

func (t TaintOption) applyNode(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, t.taint) }

func (t TaintOption) applyNodePool(p *scheduling.NodePool) {
	s := &p.Spec.Template.Spec
	if t.startup {
		s.StartupTaints = append(s.StartupTaints, t.taint)
	} else {
		s.Taints = append(s.Taints, t.taint)
	}
}

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
