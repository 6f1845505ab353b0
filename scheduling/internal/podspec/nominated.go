package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NominatedNode returns the node to which a pending pod is nominated, "" for none.
func NominatedNode(p *scheduling.Problem, pod *corev1.Pod) string {
	if node, ok := Promised(p, pod); ok {
		return node
	}
	return pod.Status.NominatedNodeName
}

// Promised returns the node that Problem.Nominated names for a pod, and whether it has an entry.
func Promised(p *scheduling.Problem, pod *corev1.Pod) (node string, ok bool) {
	if len(p.Nominated) == 0 {
		return "", false
	}
	key := PodKey(pod)
	if node, ok = p.Nominated[key]; !ok && key.Namespace == corev1.NamespaceDefault {
		key.Namespace = ""
		node, ok = p.Nominated[key]
	}
	return node, ok
}
