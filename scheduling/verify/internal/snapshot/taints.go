package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// untolerated returns the taints that keep the pod off: NoSchedule and NoExecute taints without a matching
// toleration. PreferNoSchedule keeps no pod off.
func untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) []corev1.Taint {
	return lo.Filter(taints, func(taint corev1.Taint, _ int) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !Tolerated(taint, tolerations)
	})
}

// Tolerated reports whether one of the tolerations tolerates the taint.
func Tolerated(taint corev1.Taint, tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t.ToleratesTaint, &taint) })
}

// tolerates calls the API's own rule, which knows the operators Lt and Gt. The zero value of its logger writes
// nothing.
func tolerates[Logger any](rule func(Logger, *corev1.Taint, bool) bool, taint *corev1.Taint) bool {
	var none Logger
	return rule(none, taint, true)
}

// nodeTaints returns the taints of a running or in-flight node that a pod must tolerate. A node of a pool that is not
// initialized yet loses its startup taints and the taints that kubelet and cloud provider lift; until it has
// registered, the taints of its pool count already.
func nodeTaints(node *corev1.Node, pool *scheduling.NodePool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if InFlight(node) {
		if pool != nil && node.Labels[scheduling.RegisteredLabel] != "true" {
			taints = append(taints, pool.Spec.Template.Spec.Taints...)
		}
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool {
			return passing(t) || pool != nil && listed(t, pool.Spec.Template.Spec.StartupTaints)
		})
	}
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

// InFlight reports whether the node belongs to a pool and has not become ready yet.
func InFlight(node *corev1.Node) bool {
	return node.Labels[scheduling.NodePoolLabel] != "" && node.Labels[scheduling.InitializedLabel] != "true"
}

// passing reports whether the taint goes away by itself while a node starts.
func passing(t corev1.Taint) bool {
	if strings.HasPrefix(t.Key, "readiness.k8s.io/") {
		return true
	}
	return listed(t, []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: corev1.TaintEffectNoSchedule},
		{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
	})
}

// listed reports whether the list has a taint of the same key and effect.
func listed(t corev1.Taint, list []corev1.Taint) bool {
	return slices.ContainsFunc(list, func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
}

// autoscalerTaint is the taint of nodes that the cluster autoscaler removes.
const autoscalerTaint = "ToBeDeletedByClusterAutoscaler"

// Leaving reports whether the node is being removed: it gets no pods any more.
func Leaving(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == autoscalerTaint
	})
}

// TaintText names taints in messages.
func TaintText(taints []corev1.Taint) string {
	parts := make([]string, len(taints))
	for i, t := range taints {
		parts[i] = t.ToString()
	}
	return strings.Join(parts, ", ")
}
