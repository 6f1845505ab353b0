package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod is a pending pod of the namespace "default" with one container, called "main", without
// requests unless an option adds them.
func Pod(name string, opts ...PodOption) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	var late []PodOption
	for _, o := range opts {
		if !o.Apply(p) {
			late = append(late, o)
		}
	}
	with(&labelled{p}, late)
	p.UID = types.UID(p.Namespace + "/" + p.Name)
	return p
}

// Pods is n pods that differ in their names alone, name-1 to name-n.
func Pods(n int, name string, opts ...PodOption) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, max(n, 0))
	for i := range n {
		pods = append(pods, Pod(fmt.Sprintf("%s-%d", name, i+1), opts...))
	}
	return pods
}

// Priority gives the pod a priority.
func Priority(n int32) PodOption {
	return on(func(p *corev1.Pod) { p.Spec.Priority = &n })
}

// OnNode binds the pod to a node, where it runs.
func OnNode(name string) PodOption {
	return on(func(p *corev1.Pod) {
		p.Spec.NodeName = name
		p.Status.Phase = corev1.PodRunning
	})
}

// PodPhase sets the phase of the pod's status.
func PodPhase(phase corev1.PodPhase) PodOption {
	return on(func(p *corev1.Pod) { p.Status.Phase = phase })
}

// OwnedByDaemonSet makes the pod one of a DaemonSet.
func OwnedByDaemonSet(name string) PodOption {
	return on(func(p *corev1.Pod) {
		controller := true
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: "DaemonSet", Name: name,
			UID: daemonSetUID(p.Namespace, name), Controller: &controller,
		})
	})
}

// Requests are the requests of the container "main". A second call adds to the list; the later
// amount of one resource counts.
func Requests(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Requests = merge(r.Requests, amounts)
	})
}

// Limits are the limits of the container "main". A resource with a limit and no
// request asks for the limit.
func Limits(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Limits = merge(r.Limits, amounts)
	})
}

// sideContainer adds a further container with these requests.
func sideContainer(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, container("main", len(p.Spec.Containers), amounts))
	})
}

// Init adds an init container, which runs before the main containers and ends.
func Init(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, container("init", len(p.Spec.InitContainers), amounts))
	})
}

// Sidecar adds an init container that runs as long as the containers do.
func Sidecar(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		c := container("sidecar", len(p.Spec.InitContainers), amounts)
		always := corev1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	})
}

// overhead is the overhead of the pod's runtime class.
func overhead(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) { p.Spec.Overhead = merge(p.Spec.Overhead, amounts) })
}

// podLevelAbove are requests of the pod as a whole that exceed the present requests of its
// containers by the amounts, as the API server allows.
func podLevelAbove(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		whole := make([]ResourceAmount, len(amounts))
		for i, a := range amounts {
			whole[i] = ResourceAmount{a.Name, a.Quantity.DeepCopy()}
			for k := range p.Spec.Containers {
				r := &p.Spec.Containers[k].Resources
				q, ok := r.Requests[a.Name]
				if !ok {
					q = r.Limits[a.Name]
				}
				whole[i].Quantity.Add(q)
			}
		}
		podLevel(whole...).Apply(p)
	})
}

// podLevel sets requests of the pod as a whole; they replace the sum over its containers, and must not be less.
func podLevel(amounts ...ResourceAmount) PodOption {
	return on(func(p *corev1.Pod) {
		if p.Spec.Resources == nil {
			p.Spec.Resources = &corev1.ResourceRequirements{}
		}
		p.Spec.Resources.Requests = merge(p.Spec.Resources.Requests, amounts)
	})
}

func container(name string, index int, amounts []ResourceAmount) corev1.Container {
	return corev1.Container{
		Name:      fmt.Sprintf("%s-%d", name, index),
		Resources: corev1.ResourceRequirements{Requests: Resources(amounts...)},
	}
}

func merge(list corev1.ResourceList, amounts []ResourceAmount) corev1.ResourceList {
	if list == nil {
		return Resources(amounts...)
	}
	for _, a := range amounts {
		list[a.Name] = a.Quantity.DeepCopy()
	}
	return list
}

// HostPort takes a TCP port of the node on all of its addresses.
func HostPort(port int32) PodOption { return hostPortOn("", port, corev1.ProtocolTCP) }

// hostPortOn takes a port of the node on one of its addresses; an empty address is all of them.
func hostPortOn(ip string, port int32, protocol corev1.Protocol) PodOption {
	return on(func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{
			HostPort: port, ContainerPort: port, HostIP: ip, Protocol: protocol,
		})
	})
}

// Tolerate makes the pod tolerate the taint. An empty effect is all effects.
func Tolerate(key, value string, effect corev1.TaintEffect) PodOption {
	return Toleration(corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: value, Effect: effect})
}

// TolerateKey makes the pod tolerate the taint with any value. An empty effect is all effects.
func TolerateKey(key string, effect corev1.TaintEffect) PodOption {
	return Toleration(corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
}

// TolerateAll lets the pod onto every node.
func TolerateAll() PodOption { return TolerateKey("", "") }

// Toleration adds a toleration as it is.
func Toleration(t corev1.Toleration) PodOption {
	return on(func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, t) })
}
