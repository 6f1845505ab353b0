package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// OnNode is a pod that runs on a node: the pod itself where it says so, otherwise the pod as
// it is made again there.
func OnNode(pod *corev1.Pod, node string) *corev1.Pod {
	if pod.Spec.NodeName == node {
		return pod
	}
	return Anew(pod, node)
}

// Anew is a pod as its controller makes it again, on a node or, with "", without one yet. It is another
// pod of the same specification: what it was allocated where it ran before, e.g. while it was being
// resized in place, stays behind, and so do the claims of its ephemeral volumes, which are made
// again, too.
func Anew(pod *corev1.Pod, node string) *corev1.Pod {
	out := *pod
	out.Spec.NodeName, out.DeletionTimestamp, out.UID = node, nil, scheduling.SuccessorUID
	s := &out.Status
	s.NominatedNodeName, s.Resources, s.AllocatedResources, s.ContainerStatuses, s.InitContainerStatuses = "", nil, nil, nil, nil
	return &out
}

// Resized reports whether a pod may take something else where it runs than it asks for when it is
// made again: its status tells of other amounts than its specification.
func Resized(pod *corev1.Pod) bool {
	s := &pod.Status
	if spec := pod.Spec.Resources; spec != nil && s.Resources != nil &&
		(!within(s.Resources.Requests, spec.Requests) || !within(s.AllocatedResources, spec.Requests) || infeasible(s)) {
		return true
	}
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			c := &list[i]
			if c.Resources == nil {
				continue
			}
			asked := requestsOf(&pod.Spec, c.Name)
			if !within(c.Resources.Requests, asked) || !within(c.AllocatedResources, asked) || infeasible(s) {
				return true
			}
		}
	}
	return false
}

// within reports whether a second list has every amount of a list.
func within(list, of corev1.ResourceList) bool {
	for name, q := range list {
		if other, ok := of[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// requestsOf are the requests of the container of a name.
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
