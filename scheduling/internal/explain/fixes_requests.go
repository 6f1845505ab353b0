package explain

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// slipOfUnit is the CPU request, in millicores, from which a wrong unit is likelier than a machine of that size: a million
// cores, e.g. "1M" written for "1m".
const slipOfUnit = 1_000_000 * 1000

// unitFix points out a CPU request that is probably a slip of the unit.
func unitFix(table *podspec.ResourceTable, class *podspec.PodClass) scheduling.Change {
	d, ok := table.Index[corev1.ResourceCPU]
	if !ok || class.Requests[d] < slipOfUnit {
		return scheduling.Change{}
	}
	q := podspec.Quantity(corev1.ResourceCPU, class.Requests[d])
	meant := podspec.Quantity(corev1.ResourceCPU, max(1, class.Requests[d]/slipOfUnit/1000))
	return scheduling.Change{
		Kind: scheduling.ChangeUnit, Key: string(corev1.ResourceCPU), From: q.String(), To: meant.String(),
		Text: fmt.Sprintf("check the unit of cpu %s: M stands for millions, m for thousandths", q.String()),
	}
}

func portChange(port podspec.HostPort, why string) scheduling.Change {
	return scheduling.Change{
		Kind: scheduling.ChangeHostPort, From: fmt.Sprintf("%d/%s", port.Port, port.Protocol),
		Text: fmt.Sprintf("bind another host port than %d/%s: %s", port.Port, port.Protocol, why),
	}
}

// applyRequest lets the pod ask for so much of a resource, whichever of its containers asks.
func applyRequest(t *Trial, c *scheduling.Change) bool {
	q, err := resource.ParseQuantity(c.To)
	if err != nil {
		return false
	}
	reader := podspec.RequestReader{Table: podspec.NewResourceTable()}
	all := reader.Table.List(reader.Read(&t.Pod.Spec))
	delete(all, corev1.ResourcePods)
	all[corev1.ResourceName(c.Key)] = q
	var ports []corev1.ContainerPort
	for _, list := range [][]corev1.Container{t.Pod.Spec.Containers, t.Pod.Spec.InitContainers} {
		for i := range list {
			ports = append(ports, list[i].Ports...)
		}
	}
	t.Pod.Spec.Containers = []corev1.Container{{Name: "all", Ports: ports, Resources: corev1.ResourceRequirements{Requests: all}}}
	t.Pod.Spec.InitContainers, t.Pod.Spec.Resources, t.Pod.Spec.Overhead = nil, nil, nil
	return true
}

// applyHostPort lets the pod bind one host port less, named as number/protocol.
func applyHostPort(t *Trial, c *scheduling.Change) bool {
	spec := &t.Pod.Spec
	found := false
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			gone := drop(&list[i].Ports, func(p corev1.ContainerPort) bool {
				protocol := p.Protocol
				if protocol == "" {
					protocol = corev1.ProtocolTCP
				}
				number := p.HostPort
				if number == 0 && spec.HostNetwork {
					number = p.ContainerPort
				}
				return strconv.Itoa(int(number))+"/"+string(protocol) == c.From
			})
			found = found || gone
		}
	}
	return found
}

// applyRoom frees room on a node.
func applyRoom(t *Trial, c *scheduling.Change) bool {
	i := slices.IndexFunc(t.Problem.Nodes, func(n *corev1.Node) bool { return n.Name == nameOf(c.Object) })
	q, err := resource.ParseQuantity(c.To)
	if i < 0 || err != nil {
		return false
	}
	n := t.Problem.Nodes[i].DeepCopy()
	have := n.Status.Allocatable[corev1.ResourceName(c.Key)]
	have.Add(q)
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = corev1.ResourceList{}
	}
	n.Status.Allocatable[corev1.ResourceName(c.Key)] = have
	return t.Update(scheduling.Delta{Nodes: []*corev1.Node{n}}) == nil
}

// applyDaemonSets lets daemons ask for nothing.
func applyDaemonSets(t *Trial, _ *scheduling.Change) bool {
	var d scheduling.Delta
	free := func(spec *corev1.PodSpec) {
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range list {
				list[i].Resources = corev1.ResourceRequirements{}
			}
		}
		spec.Resources, spec.Overhead = nil, nil
	}
	for _, set := range t.Problem.DaemonSets {
		set = set.DeepCopy()
		free(&set.Spec.Template.Spec)
		d.DaemonSets = append(d.DaemonSets, set)
	}
	for pod, node := range t.Running {
		if lifecycle.OfDaemonSet(pod) {
			pod = podspec.OnNode(pod, node).DeepCopy()
			free(&pod.Spec)
			d.Pods = append(d.Pods, pod)
		}
	}
	return t.Update(d) == nil
}
