package scheduling

import (
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
)

// requestReader computes effective requests. It keeps scratch vectors between
// pods, so that reading a pod allocates nothing once every resource was met.
//
// The rule is that of kube-scheduler's PodRequests: per resource the larger of
// what containers and sidecars need together and what the hungriest init
// container needs beside the sidecars started before it; pod-level requests take
// the place of that; the pod's overhead comes on top. Requests that are missing
// are filled from limits, as the API server fills them. Every pod takes one "pods".
type requestReader struct {
	table      *resourceTable
	containers []int64
	sidecars   []int64
	initial    []int64
	own        []int64
	asked      []bool // some container states a request or limit
	total      []int64
}

// grow makes room for resources that were met since the last call.
func (r *requestReader) grow() {
	for len(r.total) < len(r.table.names) {
		r.containers = append(r.containers, 0)
		r.sidecars = append(r.sidecars, 0)
		r.initial = append(r.initial, 0)
		r.own = append(r.own, 0)
		r.asked = append(r.asked, false)
		r.total = append(r.total, 0)
	}
}

// read returns the effective requests of a pod that is not running yet. The
// vector is valid until the next read.
func (r *requestReader) read(spec *corev1.PodSpec) []int64 {
	r.grow()
	clear(r.containers)
	clear(r.sidecars)
	clear(r.initial)
	clear(r.asked)
	for i := range spec.Containers {
		r.container(&spec.Containers[i].Resources)
		for d, n := range r.own {
			r.containers[d] = plus(r.containers[d], n)
		}
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		r.container(&c.Resources)
		sidecar := isSidecar(c)
		for d, n := range r.own {
			if sidecar {
				r.sidecars[d] = plus(r.sidecars[d], n)
				r.initial[d] = max(r.initial[d], r.sidecars[d])
			} else {
				r.initial[d] = max(r.initial[d], plus(n, r.sidecars[d]))
			}
		}
	}
	r.grow()
	for d := range r.total {
		r.total[d] = max(plus(r.containers[d], r.sidecars[d]), r.initial[d])
	}
	if spec.Resources != nil {
		r.podLevel(spec.Resources)
	}
	for name, q := range spec.Overhead {
		d := r.number(name)
		r.total[d] = plus(r.total[d], amount(name, q))
	}
	r.total[r.table.index[corev1.ResourcePods]] = 1
	return r.total
}

// number numbers a resource and makes room for it.
func (r *requestReader) number(name corev1.ResourceName) int {
	d := r.table.number(name)
	r.grow()
	return d
}

// container reads one container's requests, completed from its limits, into own.
func (r *requestReader) container(res *corev1.ResourceRequirements) {
	for name := range res.Requests {
		r.number(name)
	}
	for name := range res.Limits {
		r.number(name)
	}
	clear(r.own)
	for name, q := range res.Limits {
		d := r.table.index[name]
		r.own[d], r.asked[d] = amount(name, q), true
	}
	for name, q := range res.Requests {
		d := r.table.index[name]
		r.own[d], r.asked[d] = amount(name, q), true
	}
}

// podLevel applies pod-level requests, which replace what the containers add up to.
// A pod-level limit without a request stands in where no container asks for any.
func (r *requestReader) podLevel(res *corev1.ResourceRequirements) {
	for name, q := range res.Limits {
		d := r.number(name)
		if _, set := res.Requests[name]; !set && podLevelResource(name) && !r.asked[d] {
			r.total[d] = amount(name, q)
		}
	}
	for name, q := range res.Requests {
		if podLevelResource(name) {
			r.total[r.number(name)] = amount(name, q)
		}
	}
}

// podLevelResource reports whether a resource may be requested for the whole pod.
func podLevelResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// readRunning returns what a running pod takes on its node: while a resize is in
// progress, the larger of what it asks for and what it has.
func (r *requestReader) readRunning(pod *corev1.Pod) []int64 {
	total := r.read(&pod.Spec)
	if pod.Spec.Resources != nil || len(pod.Status.ContainerStatuses) == 0 {
		return total
	}
	actual := map[string]corev1.ResourceList{}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for i := range statuses {
		s := &statuses[i]
		have := corev1.ResourceList{}
		for name, q := range s.AllocatedResources {
			have[name] = q
		}
		if s.Resources != nil {
			for name, q := range s.Resources.Requests {
				if old, ok := have[name]; !ok || q.Cmp(old) > 0 {
					have[name] = q
				}
			}
		}
		actual[s.Name] = have
	}
	lasting := slices.Concat(lo.Filter(pod.Spec.InitContainers, func(c corev1.Container, _ int) bool { return isSidecar(&c) }), pod.Spec.Containers)
	for i := range lasting {
		c := &lasting[i]
		for name, q := range actual[c.Name] {
			asked, ok := c.Resources.Requests[name]
			if !ok {
				asked = c.Resources.Limits[name]
			}
			if extra := amount(name, q) - amount(name, asked); extra > 0 {
				d := r.number(name)
				r.total[d] = plus(r.total[d], extra)
			}
		}
	}
	return r.total
}

// isSidecar reports whether an init container keeps running beside the containers.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// plus adds without wrapping: a sum beyond int64 stays at its end, and fits nowhere.
func plus(a, b int64) int64 {
	if s := a + b; s >= a || b < 0 {
		return s
	}
	return 1<<63 - 1
}
