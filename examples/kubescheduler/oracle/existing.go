package oracle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// leaving reports whether a node is being removed, so that plans do not use it, though kube-scheduler
// would.
func leaving(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == "ToBeDeletedByClusterAutoscaler"
	})
}

// readyNode returns the node as it will be once it is ready. A node in flight gets its
// last labels, loses its startup taints, and reports its capacity.
func (w *world) readyNode(node *corev1.Node) *corev1.Node {
	n := node.DeepCopy()
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	pool := n.Labels[scheduling.NodePoolLabel]
	if pool == "" || n.Labels[scheduling.InitializedLabel] == "true" {
		return n
	}
	if n.Labels[scheduling.RegisteredLabel] != "true" {
		n.Spec.Taints = w.withPoolTaints(n.Spec.Taints, pool)
	}
	n.Labels[scheduling.RegisteredLabel] = "true"
	n.Labels[scheduling.InitializedLabel] = "true"
	addAliases(n.Labels)
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return starting(t) || w.startupTaint(pool, t)
	})
	if it, o := w.purchase(n); it != nil {
		n.Status.Capacity = completed(n.Status.Capacity, it.CapacityOf(o))
		n.Status.Allocatable = completed(n.Status.Allocatable, it.AllocatableOf(o))
	}
	return n
}

// withPoolTaints adds the taints of the pool, because a node gets them at the latest when it joins.
func (w *world) withPoolTaints(taints []corev1.Taint, pool string) []corev1.Taint {
	p, ok := w.pools[pool]
	if !ok {
		return taints
	}
	for i := range p.Spec.Template.Spec.Taints {
		t := &p.Spec.Template.Spec.Taints[i]
		if !slices.ContainsFunc(taints, func(have corev1.Taint) bool { return have.MatchTaint(t) }) {
			taints = append(taints, *t)
		}
	}
	return taints
}

// starting reports whether the kubelet, the cloud provider or Karpenter takes the
// taint away while a node starts.
func starting(t corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady:
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized":
		return t.Effect == corev1.TaintEffectNoSchedule
	case "karpenter.sh/unregistered":
		return t.Effect == corev1.TaintEffectNoExecute
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// startupTaint reports whether the taint is a start-up taint of the pool.
func (w *world) startupTaint(pool string, t corev1.Taint) bool {
	p, ok := w.pools[pool]
	return ok && slices.ContainsFunc(p.Spec.Template.Spec.StartupTaints, func(s corev1.Taint) bool {
		return s.Key == t.Key && s.Effect == t.Effect
	})
}

// purchase returns the node's instance type, and its offering, which is empty if the
// catalog no longer has it. The type is nil if the catalog lacks it.
func (w *world) purchase(n *corev1.Node) (t *instancetypes.InstanceType, o offering) {
	c := w.problem.CatalogOf(n.Labels[scheduling.NodePoolLabel])
	if c == nil {
		return nil, o
	}
	t, ok := c.Get(n.Labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return nil, o
	}
	for _, x := range t.Offerings {
		if x.Zone == n.Labels[corev1.LabelTopologyZone] && string(x.CapacityType) == n.Labels[offerings.CapacityTypeLabel] {
			return t, x
		}
	}
	return t, o
}

// completed returns the reported resources, and the expected ones for any that the node
// does not report yet.
func completed(reported, expected corev1.ResourceList) corev1.ResourceList {
	out := expected.DeepCopy()
	for name, q := range reported {
		if !q.IsZero() {
			out[name] = q
		}
	}
	return out
}
