package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Requests are what the container "main" asks for. Called twice, the amounts add
// to the list; the later amount of one resource counts.
func Requests(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Requests = merge(r.Requests, amounts)
	})
}

// Limits are the limits of the container "main". A resource with a limit and no
// request asks for the limit.
func Limits(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Limits = merge(r.Limits, amounts)
	})
}

// Container adds a further container with these requests.
func Container(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, container("main", len(p.Spec.Containers), amounts))
	})
}

// Init adds an init container, which runs before the main containers and ends.
func Init(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, container("init", len(p.Spec.InitContainers), amounts))
	})
}

// Sidecar adds an init container that goes on running beside everything that
// starts after it.
func Sidecar(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) {
		c := container("sidecar", len(p.Spec.InitContainers), amounts)
		always := corev1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	})
}

// Overhead is what the pod's runtime takes beside its containers.
func Overhead(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) { p.Spec.Overhead = merge(p.Spec.Overhead, amounts) })
}

// PodLevel are requests of the pod as a whole; they stand for the sum over its
// containers.
func PodLevel(amounts ...Amount) PodOption {
	return podFunc(func(p *corev1.Pod) {
		if p.Spec.Resources == nil {
			p.Spec.Resources = &corev1.ResourceRequirements{}
		}
		p.Spec.Resources.Requests = merge(p.Spec.Resources.Requests, amounts)
	})
}

func container(name string, index int, amounts []Amount) corev1.Container {
	return corev1.Container{
		Name:      fmt.Sprintf("%s-%d", name, index),
		Resources: corev1.ResourceRequirements{Requests: Resources(amounts...)},
	}
}

func merge(list corev1.ResourceList, amounts []Amount) corev1.ResourceList {
	if list == nil {
		return Resources(amounts...)
	}
	for _, a := range amounts {
		list[a.Name] = a.Quantity.DeepCopy()
	}
	return list
}
