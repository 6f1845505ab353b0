package autoscaler

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Cluster Autoscaler's defaults.
const (
	utilizationThreshold = 0.5              // --scale-down-utilization-threshold
	unneededTime         = 10 * time.Minute // --scale-down-unneeded-time
	delayAfterAdd        = 10 * time.Minute // --scale-down-delay-after-add
	mostEmpty            = 10               // --max-scale-down-parallelism
	mostDrained          = 1                // --max-drain-parallelism
)

// scaleDown removes nodes that have been unneeded for long enough: several empty ones at a time, others one by one. After a
// scale-up nodes stay for a while.
func (a *Autoscaler) scaleDown(ctx context.Context, snapshot scheduling.Problem, now time.Time) error {
	unneeded, err := a.findUnneeded(snapshot)
	if err != nil {
		return err
	}
	since := map[string]time.Time{}
	for _, name := range unneeded {
		since[name] = now
		if t, ok := a.unneeded[name]; ok {
			since[name] = t
		}
	}
	a.unneeded = since
	if now.Sub(a.scaledUp) < delayAfterAdd {
		return nil
	}
	drained := 0
	for node := range a.world.Cluster.Nodes {
		if a.drains.Has(node) && len(a.world.Cluster.On(node)) > 0 {
			drained++
		}
	}
	for _, name := range unneeded {
		if now.Sub(since[name]) < unneededTime || a.drains.Len() >= mostEmpty {
			continue
		}
		if len(a.world.Cluster.On(name)) > 0 {
			if drained >= mostDrained {
				continue
			}
			drained++
		}
		if err := a.drains.Begin(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// findUnneeded returns the nodes with a utilization below the threshold whose pods may be evicted and fit the other
// nodes, each after the removal of those before it: empty nodes first, then those that were unneeded before, by name.
func (a *Autoscaler) findUnneeded(snapshot scheduling.Problem) ([]string, error) {
	var candidates []string
	for _, name := range slices.Sorted(maps.Keys(a.world.Cluster.Nodes)) {
		if !a.drains.Has(name) && a.utilization(a.world.Cluster.Nodes[name]) < utilizationThreshold && !slices.ContainsFunc(a.world.Cluster.On(name), a.stays) {
			candidates = append(candidates, name)
		}
	}
	rank := func(name string) int {
		switch {
		case len(a.world.Cluster.On(name)) == 0:
			return 0
		case !a.unneeded[name].IsZero():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(candidates, func(x, y string) int { return rank(x) - rank(y) })
	p, ok, err := remove(snapshot, "")
	if err != nil || !ok {
		return nil, err
	}
	var out []string
	for _, name := range candidates {
		without, ok, err := remove(p, name)
		if err != nil {
			return nil, err
		}
		if ok {
			p, out = without, append(out, name)
		}
	}
	return out, nil
}

// stays reports whether a pod keeps its node: its annotation says so, or it has no controller.
func (a *Autoscaler) stays(pod *corev1.Pod) bool {
	return pod.Annotations[simulation.SafeToEvict] == "false" || len(pod.OwnerReferences) == 0 || a.world.Cluster.Allowed(pod) == 0
}

// utilization is the share of CPU or memory of a node that its pods request, the larger of the two.
func (a *Autoscaler) utilization(node *corev1.Node) float64 {
	cpu, memory := 0.0, 0.0
	for _, pod := range a.world.Cluster.Pods {
		if pod.Spec.NodeName == node.Name {
			requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
			cpu += requests.Cpu().AsApproximateFloat64()
			memory += requests.Memory().AsApproximateFloat64()
		}
	}
	return max(cpu/node.Status.Allocatable.Cpu().AsApproximateFloat64(), memory/node.Status.Allocatable.Memory().AsApproximateFloat64())
}

// remove is the snapshot after a node, and those that are being drained, are removed, with their pods and the pending ones
// bound to the other nodes; false where one of them does not fit.
func remove(p scheduling.Problem, name string) (scheduling.Problem, bool, error) {
	out := p
	out.Nodes = slices.DeleteFunc(slices.Clone(p.Nodes), func(n *corev1.Node) bool { return n.Name == name || controller.HasTaint(n, controller.Taint()) })
	out.Running, out.Pods = nil, slices.Clone(p.Pods)
	staying := map[string]bool{}
	for _, n := range out.Nodes {
		staying[n.Name] = true
	}
	for _, pod := range p.Running {
		switch {
		case staying[pod.Spec.NodeName]:
			out.Running = append(out.Running, pod)
		case !ofDaemonSet(pod):
			moved := pod.DeepCopy()
			moved.Spec.NodeName = ""
			out.Pods = append(out.Pods, moved)
		}
	}
	if len(out.Pods) == 0 {
		return out, true, nil
	}
	bindings, err := provisioning.Bind(out, 0)
	if err != nil {
		return p, false, err
	}
	at := map[string]string{}
	for _, b := range bindings {
		if b.Node == "" {
			return p, false, nil
		}
		at[b.Pod.String()] = b.Node
	}
	for _, pod := range out.Pods {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = at[scheduling.PodName(pod)]
		out.Running = append(out.Running, pod)
	}
	out.Pods = nil
	return out, true, nil
}

func ofDaemonSet(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
}
