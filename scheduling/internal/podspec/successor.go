package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// OnNode returns the pod as it runs on a node: the pod itself if its spec names the node, otherwise its
// successor there.
func OnNode(pod *corev1.Pod, node string) *corev1.Pod {
	if pod.Spec.NodeName == node {
		return pod
	}
	return scheduling.Successor(pod, node)
}

// Resized reports whether the successor of a running pod may request other amounts than the pod holds now,
// because a resize in place is in progress or was refused.
func Resized(pod *corev1.Pod) bool {
	s := &pod.Status
	if spec := pod.Spec.Resources; spec != nil && s.Resources != nil &&
		(!sameAmounts(s.Resources.Requests, spec.Requests) || !sameAmounts(s.AllocatedResources, spec.Requests) || infeasible(s)) {
		return true
	}
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			c := &list[i]
			if c.Resources == nil {
				continue
			}
			asked := requestsOf(&pod.Spec, c.Name)
			if !sameAmounts(c.Resources.Requests, asked) || !sameAmounts(c.AllocatedResources, asked) || infeasible(s) {
				return true
			}
		}
	}
	return false
}

// sameAmounts reports whether the list of has every amount of list.
func sameAmounts(list, of corev1.ResourceList) bool {
	for name, q := range list {
		if other, ok := of[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// requestsOf returns the requests of the container with a name.
func requestsOf(spec *corev1.PodSpec, name string) corev1.ResourceList {
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return list[i].Resources.Requests
			}
		}
	}
	return nil
}
