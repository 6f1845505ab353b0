package hosts

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Guard is a required anti-affinity term of a running pod, which keeps others away from its node.
type Guard struct {
	Key    string // of the label that its node and others share
	Target string // name of whom it keeps away, see [podspec.AppendTargetName]
	Node   string
	Pod    string
	By     *corev1.Pod
	Term   *corev1.PodAffinityTerm
}

// guardsOf are the terms by which a pod that runs on a node keeps others away. The pod itself may
// name the node from which it has moved.
func guardsOf(pod *corev1.Pod, node string) []Guard {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	out := make([]Guard, len(terms))
	name := podspec.PodName(pod)
	for i := range terms {
		target := string(podspec.AppendTargetName(nil, pod, terms[i:i+1]))
		out[i] = Guard{Key: terms[i].TopologyKey, Target: target, Node: node, Pod: name, By: pod, Term: &terms[i]}
	}
	return out
}

// SortGuards takes the terms by which the special hosts' pods keep others away, sorted by label,
// target, node and pod.
func (k *Cluster) SortGuards() {
	k.Guards = nil
	for _, h := range k.Special {
		k.Guards = append(k.Guards, h.Guards...)
	}
	slices.SortFunc(k.Guards, func(a, b Guard) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod, b.Pod))
	})
}
