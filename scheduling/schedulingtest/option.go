package schedulingtest

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Option says one thing about an object. It returns false, and changes nothing, for an object
// of a kind that it is not about; builders panic then.
type Option func(object any) bool

type (
	// PodOption is an Option for a pod.
	PodOption = Option
	// NodeOption is an Option for a node.
	NodeOption = Option
	// NodePoolOption is an Option for a NodePool.
	NodePoolOption = Option
	// TypeOption is an Option for an instance type.
	TypeOption = Option
	// TermOption is an Option for a term of affinity or a spread constraint.
	TermOption = Option
	// ClaimOption is an Option for a claim.
	ClaimOption = Option
	// VolumeOption is an Option for a volume.
	VolumeOption = Option
	// ClassOption is an Option for a class.
	ClassOption = Option
)

// on is an option for one kind of objects.
func on[T any](change func(T)) Option {
	return func(object any) bool {
		x, ok := object.(T)
		if ok {
			change(x)
		}
		return ok
	}
}

// either is the first of the options that is about an object.
func either(options ...Option) Option {
	return func(object any) bool {
		return slices.ContainsFunc(options, func(o Option) bool { return o(object) })
	}
}

// with applies the options to an object.
func with[T any](object T, options []Option) T {
	for _, o := range options {
		if !o(object) {
			panic(fmt.Sprintf("schedulingtest: an option is not about a %T", object))
		}
	}
	return object
}

// Label sets a label of a pod, of the nodes of a NodePool, of a node or of an instance type.
func Label(key, value string) Option {
	return either(
		on(func(p *corev1.Pod) { p.Labels = put(p.Labels, key, value) }),
		on(func(p *scheduling.NodePool) {
			p.Spec.Template.Metadata.Labels = put(p.Spec.Template.Metadata.Labels, key, value)
		}),
		on(func(n *corev1.Node) { n.Labels = put(n.Labels, key, value) }),
		on(func(t *instancetypes.InstanceType) { t.Labels = put(t.Labels, key, value) }),
	)
}

func put(labels map[string]string, key, value string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	return labels
}

// Taint adds a taint to a node or to the nodes of a NodePool.
func Taint(key, value string, effect corev1.TaintEffect) Option {
	t := corev1.Taint{Key: key, Value: value, Effect: effect}
	return either(
		on(func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, t) }),
		on(func(p *scheduling.NodePool) {
			p.Spec.Template.Spec.Taints = append(p.Spec.Template.Spec.Taints, t)
		}),
	)
}

// StartupTaint adds a taint that new nodes of a NodePool carry until something removes it.
func StartupTaint(key, value string, effect corev1.TaintEffect) NodePoolOption {
	return on(func(p *scheduling.NodePool) {
		s := &p.Spec.Template.Spec
		s.StartupTaints = append(s.StartupTaints, corev1.Taint{Key: key, Value: value, Effect: effect})
	})
}

// Deleting marks a node, a pod, a claim or a volume that is being deleted; a finalizer keeps it
// there.
func Deleting() Option {
	mark := func(m *metav1.ObjectMeta, finalizer string) {
		since := metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
		m.DeletionTimestamp = &since
		m.Finalizers = append(m.Finalizers, finalizer)
	}
	return either(
		on(func(n *corev1.Node) { mark(&n.ObjectMeta, "karpenter.sh/termination") }),
		on(func(p *corev1.Pod) { mark(&p.ObjectMeta, "example.com/keep") }),
		on(func(c *corev1.PersistentVolumeClaim) { mark(&c.ObjectMeta, "kubernetes.io/pvc-protection") }),
		on(func(v *corev1.PersistentVolume) { mark(&v.ObjectMeta, "kubernetes.io/pv-protection") }),
	)
}

// Namespace puts a pod or a claim into a namespace.
func Namespace(name string) Option {
	return either(on(func(p *corev1.Pod) { p.Namespace = name }), on(func(c *corev1.PersistentVolumeClaim) { c.Namespace = name }))
}

// Weight ranks a NodePool: pods go to the pool of the highest weight. It makes a term of pod
// affinity or anti-affinity a preferred one.
func Weight(n int32) Option {
	return either(on(func(p *scheduling.NodePool) { w := n; p.Spec.Weight = &w }), onAffinity(func(t *topologyTerm) { t.weight = n }))
}
