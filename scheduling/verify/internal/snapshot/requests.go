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

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// runningRequests returns what a running pod holds: while it is being resized in
// place, the larger of what it asks for and what it was given.
func runningRequests(pod *corev1.Pod) Amounts {
	return effectiveRequests(&pod.Spec, &pod.Status)
}

// effectiveRequests are what a pod asks for, with one pod slot; status is nil for one that does
// not run yet. It follows kube-scheduler: sidecars run beside the containers, an
// init container runs beside the sidecars declared before it, pod-level requests
// replace the sum for the resources that they may name, and overhead comes on top.
// Fractions of a unit are rounded up container by container.
func effectiveRequests(spec *corev1.PodSpec, status *corev1.PodStatus) Amounts {
	given, refused := allocations(status), infeasible(status)
	steady, peak, sidecars := Amounts{}, Amounts{}, Amounts{}
	for i := range spec.Containers {
		steady.Add(containerRequests(&spec.Containers[i], given, refused))
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if isSidecar(c) {
			own := containerRequests(c, given, refused)
			steady.Add(own)
			sidecars.Add(own)
			continue
		}
		peak.Raise(sidecars.Plus(containerRequests(c, nil, false)))
	}
	total := steady
	total.Raise(peak)
	podLevel(total, spec, status)
	total.Add(RoundedUp(spec.Overhead))
	total[corev1.ResourcePods] = big.NewInt(1)
	return total
}

func isSidecar(c *corev1.Container) bool {
	return ValueOr(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
}

// containerRequests are the requests of a container; a limit without a request is
// the request, as the API server would have it. A resize that the node has refused
// for good does not count: what was given does.
func containerRequests(c *corev1.Container, given map[string][]corev1.ResourceList, refused bool) Amounts {
	list := Amounts{}
	if !refused || given[c.Name] == nil {
		list = RoundedUp(c.Resources.Limits)
		maps.Copy(list, RoundedUp(c.Resources.Requests))
	}
	for _, g := range given[c.Name] {
		list.Raise(RoundedUp(g))
	}
	return list
}

// infeasible reports whether the node has refused a resize for good.
func infeasible(status *corev1.PodStatus) bool {
	return status != nil && slices.ContainsFunc(status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible
	})
}

// allocations are the resources that the containers of a running pod hold, by
// container name.
func allocations(status *corev1.PodStatus) map[string][]corev1.ResourceList {
	if status == nil {
		return nil
	}
	given := make(map[string][]corev1.ResourceList)
	for _, c := range slices.Concat(status.ContainerStatuses, status.InitContainerStatuses) {
		if c.Resources != nil {
			given[c.Name] = append(given[c.Name], c.AllocatedResources, c.Resources.Requests)
		}
	}
	return given
}

// podLevel applies spec.resources: its requests replace the aggregate, and its
// limits stand in for what neither the pod nor a container requests.
func podLevel(total Amounts, spec *corev1.PodSpec, status *corev1.PodStatus) {
	if spec.Resources == nil {
		return
	}
	for name, n := range RoundedUp(spec.Resources.Limits) {
		if _, ok := total[name]; !ok && podLevelResource(name) {
			total[name] = n
		}
	}
	for name, n := range RoundedUp(spec.Resources.Requests) {
		if !podLevelResource(name) {
			continue
		}
		total[name] = n
		if status == nil || status.Resources == nil {
			continue
		}
		if infeasible(status) {
			delete(total, name)
		}
		for _, list := range []corev1.ResourceList{status.AllocatedResources, status.Resources.Requests} {
			total.Raise(Amounts{name: RoundedUp(list).Of(name)})
		}
	}
}

func podLevelResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
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
