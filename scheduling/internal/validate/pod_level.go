package validate

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// podLevel checks pod-level resources against those of the containers, as the API server does: requests must be
// at least the containers' total, and limits at least the limit of each container.
func (s *podSpecChecker) podLevel(spec *corev1.PodSpec) {
	whole := spec.Resources
	fault := func(list string, name corev1.ResourceName, q *resource.Quantity, message string) {
		s.faults.Add(q.String(), message, strict.Member(s.path+".resources."+list, string(name)))
	}
	const together = " that the containers request together"
	for name, q := range podspec.Listed(whole.Requests) {
		if !podspec.PodLevelResource(name) || podspec.Beyond64Bits(name, &q) {
			continue
		}
		if sum := containersRequest(spec, name); sum.Cmp(q) > 0 {
			fault("requests", name, &q, "is less than the "+sum.String()+together)
		}
	}
	for name, q := range podspec.Listed(whole.Limits) {
		if !podspec.PodLevelResource(name) || podspec.Beyond64Bits(name, &q) {
			continue
		}
		if _, stated := whole.Requests[name]; !stated {
			if sum := containersRequest(spec, name); sum.Cmp(q) > 0 {
				fault("limits", name, &q, "is less than the "+sum.String()+together)
				continue
			}
		}
		for i := range spec.Containers {
			if limit, ok := spec.Containers[i].Resources.Limits[name]; ok && exceeds(name, &limit, &q) {
				fault("limits", name, &q, "is less than the limit of "+limit.String()+" of containers["+strconv.Itoa(i)+"]")
				break
			}
		}
	}
}

// containersRequest returns the largest total request of the containers at any time: the containers with all
// sidecars, or an init container with the sidecars started before it.
func containersRequest(spec *corev1.PodSpec, name corev1.ResourceName) resource.Quantity {
	var steady, sidecars, most resource.Quantity
	for i := range spec.Containers {
		steady.Add(requestOf(&spec.Containers[i], name))
	}
	for i := range spec.InitContainers {
		beside := requestOf(&spec.InitContainers[i], name)
		beside.Add(sidecars)
		if podspec.IsSidecar(&spec.InitContainers[i]) {
			sidecars = beside.DeepCopy()
		}
		if beside.Cmp(most) > 0 {
			most = beside
		}
	}
	if steady.Add(sidecars); steady.Cmp(most) > 0 {
		return steady
	}
	return most
}

// requestOf returns a container's request; without one it is the limit, which the API server takes as default.
func requestOf(c *corev1.Container, name corev1.ResourceName) resource.Quantity {
	q, ok := c.Resources.Requests[name]
	if !ok {
		q = c.Resources.Limits[name]
	}
	if podspec.Beyond64Bits(name, &q) {
		return podspec.Quantity(name, math.MaxInt64) // because an exact sum of a huge exponent would take all memory
	}
	return q.DeepCopy()
}
