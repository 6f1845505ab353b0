package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Tolerates reports whether one of the tolerations matches the taint, by the API's rule. A toleration without a
// key must have the operator Exists; the API does not accept another one.
func Tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	for i := range tolerations {
		t := &tolerations[i]
		if (t.Key != "" || t.Operator == corev1.TolerationOpExists) && silently(t.ToleratesTaint, taint) {
			return true
		}
	}
	return false
}

// silently calls a rule of the API that writes to a logger, with a logger that discards. Operators Lt and Gt
// are enabled.
func silently[Logger any](tolerates func(Logger, *corev1.Taint, bool) bool, taint *corev1.Taint) bool {
	var none Logger
	return tolerates(none, taint, true)
}

// Untolerated returns the first untolerated taint with effect NoSchedule or NoExecute, nil for none, and whether a
// PreferNoSchedule taint is untolerated. It is the part of [Constraint.FitOn] that depends on taints alone, e.g. for
// nodes whose labels are not known yet.
func (c *Constraint) Untolerated(taints []corev1.Taint) (hard *corev1.Taint, soft bool) {
	for i := range taints {
		if Tolerates(c.Tolerations, &taints[i]) {
			continue
		}
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule {
			soft = true
		} else if hard == nil {
			hard = &taints[i]
		}
	}
	return hard, soft
}

// Ephemeral reports whether a taint disappears by itself while a node starts.
func Ephemeral(t *corev1.Taint) bool {
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

// TellsCondition reports whether a taint shows a condition of the node that ends when it is repaired or
// uncordoned: taints of the node lifecycle controller, of kubectl cordon and of cloud providers.
func TellsCondition(t *corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeOutOfService,
		corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable,
		"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown":
		return true
	}
	return false
}

// DaemonTolerations returns the tolerations of a daemon pod: its own and those that the DaemonSet controller
// adds.
func DaemonTolerations(own []corev1.Toleration, hostNetwork bool) []corev1.Toleration {
	out := append([]corev1.Toleration(nil), own...)
	add := func(key string, effect corev1.TaintEffect) {
		out = append(out, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if hostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return out
}
