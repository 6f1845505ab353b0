package verify

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// untolerated returns the taints that keep the pod off: NoSchedule and NoExecute
// ones without a matching toleration. PreferNoSchedule keeps nothing off.
func untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) []corev1.Taint {
	var bad []corev1.Taint
	for _, taint := range taints {
		if taint.Effect == corev1.TaintEffectPreferNoSchedule {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) }) {
			bad = append(bad, taint)
		}
	}
	return bad
}

// tolerates follows the API's rule: an empty effect matches every effect, an empty
// key every key; Lt and Gt compare the taint's value with the toleration's.
func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return t.Value == taint.Value
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		limit, okLimit := canonicalInteger(t.Value)
		value, okValue := canonicalInteger(taint.Value)
		if !okLimit || !okValue {
			return false
		}
		if t.Operator == corev1.TolerationOpLt {
			return value < limit
		}
		return value > limit
	default:
		return false
	}
}

// canonicalInteger parses a decimal int64 that has no sign but a minus, no leading
// zero and no space.
func canonicalInteger(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// nodeTaints returns the taints of a running or in-flight node that a pod has to
// tolerate. A node of a pool that is not initialised yet loses its start-up taints
// and those that the kubelet and the cloud provider will lift, and until it has
// registered, the taints that its pool will put on it count already.
func nodeTaints(node *corev1.Node, pool *scheduling.NodePool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if inFlight(node) {
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

// inFlight reports whether the node belongs to a pool and has not become ready yet.
func inFlight(node *corev1.Node) bool {
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

// autoscalerTaint is what the cluster autoscaler puts on nodes that it removes.
const autoscalerTaint = "ToBeDeletedByClusterAutoscaler"

// leaving reports whether the node is being removed: it gets no pods any more.
func leaving(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == autoscalerTaint
	})
}

func taintText(taints []corev1.Taint) string {
	parts := make([]string, len(taints))
	for i, t := range taints {
		parts[i] = t.ToString()
	}
	return strings.Join(parts, ", ")
}
