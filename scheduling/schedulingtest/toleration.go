package schedulingtest

import corev1 "k8s.io/api/core/v1"

// Tolerate lets the pod onto nodes with the taint. An empty effect stands for all.
func Tolerate(key, value string, effect corev1.TaintEffect) PodOption {
	return Toleration(corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: value, Effect: effect})
}

// TolerateKey lets the pod onto nodes with the taint, whatever its value. An empty
// effect stands for all.
func TolerateKey(key string, effect corev1.TaintEffect) PodOption {
	return Toleration(corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
}

// TolerateAll lets the pod onto every node.
func TolerateAll() PodOption { return TolerateKey("", "") }

// Toleration adds a toleration as it is.
func Toleration(t corev1.Toleration) PodOption {
	return podFunc(func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, t) })
}
