package snapshot

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// runningRequests returns the amounts that a running pod takes of its node. While it is resized in place that is the
// larger of its requests and of its allocation.
func runningRequests(pod *corev1.Pod) Amounts { return requestsOf(pod, true) }

// pendingRequests returns the amounts that a pod without a node requests.
func pendingRequests(pod *corev1.Pod) Amounts { return requestsOf(pod, false) }

// requestsOf returns the amounts that kube-scheduler counts for a pod, by its own function, and one pod slot. Of a pod
// that runs the status counts, too.
func requestsOf(pod *corev1.Pod, runs bool) Amounts {
	total := RoundedUp(resourcehelper.PodRequests(asAdmitted(pod), resourcehelper.PodResourcesOptions{
		UseStatusResources: runs, InPlacePodLevelResourcesVerticalScalingEnabled: runs,
	}))
	total[corev1.ResourcePods] = big.NewInt(1)
	return total
}

// asAdmitted returns the pod with the requests that an API server gives it: a limit without a request is the request,
// e.g. memory 2Gi for a container that only limits it. Requests are rounded up to whole base units container by
// container, because plans promise so. The pod itself is not changed.
func asAdmitted(pod *corev1.Pod) *corev1.Pod {
	containers, changed := containersAsAdmitted(pod.Spec.Containers)
	inits, also := containersAsAdmitted(pod.Spec.InitContainers)
	if !changed && !also && pod.Spec.Resources == nil {
		return pod // as most are, once an API server has seen them
	}
	own := *pod
	own.Spec.Containers, own.Spec.InitContainers = containers, inits
	if pod.Spec.Resources == nil {
		return &own
	}
	requests := make(corev1.ResourceList)
	for name, limit := range pod.Spec.Resources.Limits {
		requested := func(c corev1.Container) bool { _, ok := c.Resources.Requests[name]; return ok }
		if !slices.ContainsFunc(own.Spec.Containers, requested) && !slices.ContainsFunc(own.Spec.InitContainers, requested) {
			requests[name] = wholeUnits(name, limit)
		}
	}
	for name, q := range pod.Spec.Resources.Requests {
		requests[name] = wholeUnits(name, q)
	}
	own.Spec.Resources = &corev1.ResourceRequirements{Requests: requests}
	return &own
}

// containersAsAdmitted returns the containers as an API server leaves them, and whether that changes any.
func containersAsAdmitted(list []corev1.Container) (out []corev1.Container, changed bool) {
	out = list
	for i := range list {
		requests, differs := requestsAsAdmitted(&list[i].Resources)
		if !differs {
			continue
		}
		if !changed {
			out, changed = slices.Clone(list), true
		}
		out[i].Resources.Requests = requests
	}
	return out, changed
}

// requestsAsAdmitted returns the requests of a container, and whether they differ from those stated.
func requestsAsAdmitted(r *corev1.ResourceRequirements) (requests corev1.ResourceList, changed bool) {
	requests = r.Requests
	put := func(name corev1.ResourceName, q resource.Quantity) {
		if !changed {
			requests, changed = maps.Clone(requests), true
		}
		if requests == nil {
			requests = corev1.ResourceList{}
		}
		requests[name] = q
	}
	for name, limit := range r.Limits {
		if _, stated := r.Requests[name]; !stated {
			put(name, wholeUnits(name, limit))
		}
	}
	for name, q := range r.Requests {
		if whole := wholeUnits(name, q); whole.Cmp(q) != 0 {
			put(name, whole)
		}
	}
	return requests, changed
}

// wholeUnits returns the quantity rounded up to base units: millicores of CPU, ones of anything else.
func wholeUnits(name corev1.ResourceName, q resource.Quantity) resource.Quantity {
	own := q.DeepCopy() // RoundUp may change the number behind a copied quantity
	if name == corev1.ResourceCPU {
		own.RoundUp(resource.Milli)
	} else {
		own.RoundUp(0)
	}
	return own
}

func isSidecar(c *corev1.Container) bool {
	return ValueOr(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
}
