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

// Option sets one property of an object. Each builder takes the options of its kind of objects, so
// that the compiler refuses, e.g., a cordoned pod: Pod("x", Cordoned()). Options are made by the
// functions of this package alone.
type Option interface {
	// Apply changes an object of a kind that the option is for. It returns false, without a change,
	// for any other object.
	Apply(object any) bool
}

type (
	// PodOption is an Option for a pod.
	PodOption interface {
		Option
		forPods()
	}
	// NodeOption is an Option for a node.
	NodeOption interface {
		Option
		forNodes()
	}
	// NodePoolOption is an Option for a NodePool.
	NodePoolOption interface {
		Option
		forNodePools()
	}
	// TypeOption is an Option for an instance type.
	TypeOption interface {
		Option
		forTypes()
	}
	// SpreadOption is an Option for a topology spread constraint.
	SpreadOption interface {
		Option
		forSpreads()
	}
	// AffinityOption is an Option for a term of pod affinity or anti-affinity.
	AffinityOption interface {
		Option
		forAffinities()
	}
	// TermOption is an Option for a topology spread constraint, and for a term of pod affinity or
	// anti-affinity.
	TermOption interface {
		SpreadOption
		AffinityOption
	}
	// ClaimOption is an Option for a claim.
	ClaimOption interface {
		Option
		forClaims()
	}
	// VolumeOption is an Option for a volume.
	VolumeOption interface {
		Option
		forVolumes()
	}
	// ClassOption is an Option for a storage class.
	ClassOption interface {
		Option
		forClasses()
	}
)

// option implements the options of all kinds. Functions return it as the kinds that it is for.
type option func(object any) bool

func (o option) Apply(object any) bool { return o(object) }
func (option) forPods()                {}
func (option) forNodes()               {}
func (option) forNodePools()           {}
func (option) forTypes()               {}
func (option) forSpreads()             {}
func (option) forAffinities()          {}
func (option) forClaims()              {}
func (option) forVolumes()             {}
func (option) forClasses()             {}

// on is an option for one kind of objects.
func on[T any](change func(T)) option {
	return func(object any) bool {
		x, ok := object.(T)
		if ok {
			change(x)
		}
		return ok
	}
}

// either applies the first of the options that is for the object.
func either(options ...Option) option {
	return func(object any) bool {
		return slices.ContainsFunc(options, func(o Option) bool { return o.Apply(object) })
	}
}

// with applies the options to an object. It panics where an option is for another kind, which the
// types of options exclude.
func with[T any, O Option](object T, options []O) T {
	for _, o := range options {
		if !o.Apply(object) {
			panic(fmt.Sprintf("schedulingtest: an option is not for a %T", object))
		}
	}
	return object
}

// Label sets a label of a pod, of the nodes of a NodePool, of a node or of an instance type.
func Label(key, value string) interface {
	PodOption
	NodePoolOption
	NodeOption
	TypeOption
} {
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
func Taint(key, value string, effect corev1.TaintEffect) interface {
	NodeOption
	NodePoolOption
} {
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

// Deleting marks a node, a pod, a claim or a volume that is being deleted, and that a finalizer still holds.
func Deleting() interface {
	NodeOption
	PodOption
	ClaimOption
	VolumeOption
} {
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
func Namespace(name string) interface {
	PodOption
	ClaimOption
} {
	return either(on(func(p *corev1.Pod) { p.Namespace = name }), on(func(c *corev1.PersistentVolumeClaim) { c.Namespace = name }))
}

// Weight ranks a NodePool: pods go to the pool of the highest weight. It makes a term of pod
// affinity or anti-affinity a preferred one.
func Weight(n int32) interface {
	NodePoolOption
	AffinityOption
} {
	return either(on(func(p *scheduling.NodePool) { w := n; p.Spec.Weight = &w }), onAffinity(func(t *topologyTerm) { t.weight = n }))
}
