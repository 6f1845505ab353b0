package manifest

import (
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// staticRequests are the total requests of the static pods of each node, by the node's name.
func staticRequests(running []*corev1.Pod) map[string]corev1.ResourceList {
	pods := lo.Filter(running, func(pod *corev1.Pod, _ int) bool { return pod != nil && lifecycle.Static(pod) && !lifecycle.Ended(pod) })
	out := map[string]corev1.ResourceList{}
	for i, requests := range provisioning.PodRequests(pods) {
		node := pods[i].Spec.NodeName
		if out[node] == nil {
			out[node] = corev1.ResourceList{}
		}
		for name, q := range requests {
			sum := out[node][name]
			sum.Add(q)
			out[node][name] = sum
		}
	}
	return out
}

// staticByPool estimates the requests of static pods on the next node of each NodePool with
// nodes, by its name: the least requests on its healthy nodes; and under "" the least on all nodes
// outside of the control plane. nil is none. It is an estimate, because no object of the input says which static
// pods a node gets.
func staticByPool(p *scheduling.Problem) map[string]corev1.ResourceList {
	requests := staticRequests(p.Running)
	if len(requests) == 0 {
		return nil
	}
	nodes := lo.Filter(p.Nodes, func(n *corev1.Node, _ int) bool { return n != nil && !NodeGroupOf(n).ControlPlane() })
	of := lo.GroupBy(nodes, func(n *corev1.Node) string { return n.Labels[scheduling.NodePoolLabel] })
	if len(nodes) > 0 {
		of[""] = nodes
	}
	return lo.MapValues(of, func(nodes []*corev1.Node, _ string) corev1.ResourceList {
		return ofAll(nodes, requests)
	})
}

// ofAll is the least request of static pods on healthy nodes, for requests by node name.
func ofAll(nodes []*corev1.Node, requests map[string]corev1.ResourceList) corev1.ResourceList {
	return least(healthy(nodes), func(n *corev1.Node) corev1.ResourceList { return requests[n.Name] })
}

// staticOf is the estimate of the requests of static pods on the next node of a NodePool.
func staticOf(static map[string]corev1.ResourceList, pool string) corev1.ResourceList {
	if own, ok := static[pool]; ok {
		return own
	}
	return static[""]
}

// lessStatic is a list less the amounts of another one, and at least 0.
func lessStatic(list, less corev1.ResourceList) corev1.ResourceList {
	if len(less) == 0 {
		return list
	}
	out := list.DeepCopy()
	for name, q := range less {
		have, ok := out[name]
		if !ok {
			continue
		}
		if have.Sub(q); have.Sign() < 0 {
			have = resource.Quantity{}
		}
		out[name] = have
	}
	return out
}

// templatesWithout are all instance types of a catalog with less allocatable.
func templatesWithout(catalog *instancetypes.Catalog, less corev1.ResourceList) map[string]instancetypes.ObservedNode {
	out := map[string]instancetypes.ObservedNode{}
	for t := range catalog.All() {
		out[t.Name] = instancetypes.ObservedNode{Capacity: t.Capacity, Allocatable: lessStatic(t.Allocatable(), less)}
	}
	return out
}
