package podspec

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The numeric toleration operators of recent Kubernetes versions.
const (
	tolerationLt corev1.TolerationOperator = "Lt"
	tolerationGt corev1.TolerationOperator = "Gt"
)

// Tolerates reports whether one of the tolerations covers the taint: key (empty
// with Exists for all keys), effect (empty for all) and, by operator, value.
func Tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	for i := range tolerations {
		t := &tolerations[i]
		if t.Effect != "" && t.Effect != taint.Effect {
			continue
		}
		if t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case "", corev1.TolerationOpEqual:
			if t.Key != "" && t.Value == taint.Value {
				return true
			}
		case tolerationLt, tolerationGt:
			if t.Key != "" && toleratesNumber(t.Operator, t.Value, taint.Value) {
				return true
			}
		}
	}
	return false
}

// toleratesNumber compares a taint's value with a toleration's; both must be
// decimal integers in their shortest form.
func toleratesNumber(op corev1.TolerationOperator, toleration, taint string) bool {
	limit, okLimit := canonicalInt(toleration)
	value, okValue := canonicalInt(taint)
	if !okLimit || !okValue {
		return false
	}
	if op == tolerationLt {
		return value < limit
	}
	return value > limit
}

func canonicalInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// Untolerated returns the first taint with a hard effect (NoSchedule, NoExecute)
// that is not tolerated, and whether one with effect PreferNoSchedule is not.
func Untolerated(tolerations []corev1.Toleration, taints []corev1.Taint) (hard *corev1.Taint, soft bool) {
	for i := range taints {
		if Tolerates(tolerations, &taints[i]) {
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

// Ephemeral reports whether a taint goes away by itself while a node starts.
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

// DaemonTolerations are those that the DaemonSet controller adds to every daemon.
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
