package verify

import (
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pendingRequests returns what a pod that is not running yet asks for, with one
// pod slot.
func pendingRequests(spec *corev1.PodSpec) amounts {
	return effectiveRequests(spec, nil)
}

// runningRequests returns what a running pod holds: while it is being resized in
// place, the larger of what it asks for and what it was given.
func runningRequests(pod *corev1.Pod) amounts {
	return effectiveRequests(&pod.Spec, &pod.Status)
}

// effectiveRequests follows kube-scheduler: sidecars run beside the containers, an
// init container runs beside the sidecars declared before it, pod-level requests
// replace the sum for the resources that they may name, and overhead comes on top.
// Fractions of a unit are rounded up container by container.
func effectiveRequests(spec *corev1.PodSpec, status *corev1.PodStatus) amounts {
	given, refused := allocations(status), infeasible(status)
	steady, peak, sidecars := amounts{}, amounts{}, amounts{}
	for i := range spec.Containers {
		steady.add(containerRequests(&spec.Containers[i], given, refused))
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if isSidecar(c) {
			own := containerRequests(c, given, refused)
			steady.add(own)
			sidecars.add(own)
			continue
		}
		peak.raise(sidecars.plus(containerRequests(c, nil, false)))
	}
	total := steady
	total.raise(peak)
	podLevel(total, spec, status)
	total.add(roundedUp(spec.Overhead))
	total[corev1.ResourcePods] = big.NewInt(1)
	return total
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// containerRequests are the requests of a container; a limit without a request is
// the request, as the API server would have it. A resize that the node has refused
// for good does not count: what was given does.
func containerRequests(c *corev1.Container, given map[string][]corev1.ResourceList, refused bool) amounts {
	list := amounts{}
	if !refused || given[c.Name] == nil {
		list = roundedUp(c.Resources.Limits)
		for name, n := range roundedUp(c.Resources.Requests) {
			list[name] = n
		}
	}
	for _, g := range given[c.Name] {
		list.raise(roundedUp(g))
	}
	return list
}

// infeasible reports whether the node has refused a resize for good.
func infeasible(status *corev1.PodStatus) bool {
	if status == nil {
		return false
	}
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible {
			return true
		}
	}
	return false
}

// allocations are the resources that the containers of a running pod hold, by
// container name.
func allocations(status *corev1.PodStatus) map[string][]corev1.ResourceList {
	if status == nil {
		return nil
	}
	given := make(map[string][]corev1.ResourceList)
	for _, list := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range list {
			if c := &list[i]; c.Resources != nil {
				given[c.Name] = append(given[c.Name], c.AllocatedResources, c.Resources.Requests)
			}
		}
	}
	return given
}

// podLevel applies spec.resources: its requests replace the aggregate, and its
// limits stand in for what neither the pod nor a container requests.
func podLevel(total amounts, spec *corev1.PodSpec, status *corev1.PodStatus) {
	if spec.Resources == nil {
		return
	}
	for name, n := range roundedUp(spec.Resources.Limits) {
		if _, ok := total[name]; !ok && podLevelResource(name) {
			total[name] = n
		}
	}
	for name, n := range roundedUp(spec.Resources.Requests) {
		if !podLevelResource(name) {
			continue
		}
		total[name] = n
		if status == nil {
			continue
		}
		if held := roundedUp(status.AllocatedResources).of(name); held.Cmp(total[name]) > 0 {
			total[name] = held
		}
		if status.Resources == nil {
			continue
		}
		if held := roundedUp(status.Resources.Requests).of(name); held.Cmp(total[name]) > 0 {
			total[name] = held
		}
	}
}

func podLevelResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
