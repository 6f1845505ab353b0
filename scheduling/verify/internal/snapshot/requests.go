package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// runningRequests returns what a pod that runs holds of its node. While it is resized in place that is the larger of
// what it asks for and what its node has given it.
func runningRequests(pod *corev1.Pod) Amounts { return requestsOf(pod, true) }

// pendingRequests returns what a pod with the spec asks for before it has a node.
func pendingRequests(spec *corev1.PodSpec) Amounts {
	return requestsOf(&corev1.Pod{Spec: *spec}, false)
}

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
	own := *pod
	own.Spec.Containers = containersAsAdmitted(pod.Spec.Containers)
	own.Spec.InitContainers = containersAsAdmitted(pod.Spec.InitContainers)
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

// containersAsAdmitted returns the containers as an API server leaves them, the same slice where it changes nothing.
func containersAsAdmitted(list []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for i := range list {
		requests, changed := requestsAsAdmitted(&list[i].Resources)
		if !changed {
			continue
		}
		if out == nil {
			out = slices.Clone(list)
		}
		out[i].Resources.Requests = requests
	}
	if out == nil {
		return list
	}
	return out
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

// Port is a host port that a pod takes on its node.
type Port struct {
	ip       string
	protocol corev1.Protocol
	number   int32
}

func (p Port) String() string { return fmt.Sprintf("%s:%d/%s", p.ip, p.number, p.protocol) }

// hostPorts returns the ports of the containers and sidecars, with the defaults of
// the API server: TCP, every address, and on the host's network the port that the
// container listens on.
func hostPorts(spec *corev1.PodSpec) []Port {
	var ports []Port
	scan := func(c *corev1.Container) {
		for _, cp := range c.Ports {
			p := Port{ip: cmp.Or(cp.HostIP, "0.0.0.0"), protocol: cmp.Or(cp.Protocol, corev1.ProtocolTCP), number: cp.HostPort}
			if p.number == 0 && spec.HostNetwork {
				p.number = cp.ContainerPort
			}
			if p.number <= 0 {
				continue
			}
			ports = append(ports, p)
		}
	}
	for i := range spec.Containers {
		scan(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			scan(&spec.InitContainers[i])
		}
	}
	return ports
}

// Clash returns a port of a that one of b takes too.
func Clash(a, b []Port) (Port, bool) {
	for _, p := range a {
		for _, q := range b {
			if p.number == q.number && p.protocol == q.protocol && (p.ip == q.ip || everyAddress(p.ip) || everyAddress(q.ip)) {
				return p, true
			}
		}
	}
	return Port{}, false
}

func everyAddress(ip string) bool { return ip == "0.0.0.0" || ip == "::" }

// Untolerated returns the taints that keep the pod off: NoSchedule and NoExecute
// ones without a matching toleration. PreferNoSchedule keeps nothing off.
func Untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) []corev1.Taint {
	return lo.Filter(taints, func(taint corev1.Taint, _ int) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !Tolerated(taint, tolerations)
	})
}

// Tolerated reports whether one of the tolerations tolerates the taint.
func Tolerated(taint corev1.Taint, tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t.ToleratesTaint, &taint) })
}

// tolerates follows the API's rule, with the operators Lt and Gt. The zero value of its logger
// writes nothing.
func tolerates[Logger any](rule func(Logger, *corev1.Taint, bool) bool, taint *corev1.Taint) bool {
	var none Logger
	return rule(none, taint, true)
}

// nodeTaints returns the taints of a running or in-flight node that a pod has to
// tolerate. A node of a pool that is not initialised yet loses its start-up taints
// and those that the kubelet and the cloud provider will lift, and until it has
// registered, the taints that its pool will put on it count already.
func nodeTaints(node *corev1.Node, pool *scheduling.NodePool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if InFlight(node) {
		if pool != nil && node.Labels[scheduling.RegisteredLabel] != "true" {
			taints = append(taints, pool.Spec.Template.Spec.Taints...)
		}
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool {
			return passing(t) || pool != nil && listed(t, pool.Spec.Template.Spec.StartupTaints)
		})
	}
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

// InFlight reports whether the node belongs to a pool and has not become ready yet.
func InFlight(node *corev1.Node) bool {
	return node.Labels[scheduling.NodePoolLabel] != "" && node.Labels[scheduling.InitializedLabel] != "true"
}

// passing reports whether the taint goes away by itself while a node starts.
func passing(t corev1.Taint) bool {
	if strings.HasPrefix(t.Key, "readiness.k8s.io/") {
		return true
	}
	return listed(t, []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: corev1.TaintEffectNoSchedule},
		{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
	})
}

// listed reports whether the list has a taint of the same key and effect.
func listed(t corev1.Taint, list []corev1.Taint) bool {
	return slices.ContainsFunc(list, func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
}

// autoscalerTaint is what the cluster autoscaler puts on nodes that it removes.
const autoscalerTaint = "ToBeDeletedByClusterAutoscaler"

// Leaving reports whether the node is being removed: it gets no pods any more.
func Leaving(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == autoscalerTaint
	})
}

// TaintText names taints in messages.
func TaintText(taints []corev1.Taint) string {
	parts := make([]string, len(taints))
	for i, t := range taints {
		parts[i] = t.ToString()
	}
	return strings.Join(parts, ", ")
}
