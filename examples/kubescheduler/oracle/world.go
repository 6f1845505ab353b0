package oracle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// world is a problem as kube-scheduler sees it once all is in place.
type world struct {
	problem *scheduling.Problem
	pools   map[string]*scheduling.NodePool
	pending map[string]*corev1.Pod // by namespace/name
	daemons []*daemon
	nodes   []*corev1.Node // ready
	running []*corev1.Pod
	sold    map[*instancetypes.Catalog]map[string]bool // label keys
}

func newWorld(p *scheduling.Problem) *world {
	w := &world{
		problem: p,
		pools:   make(map[string]*scheduling.NodePool, len(p.NodePools)),
		pending: make(map[string]*corev1.Pod, len(p.Pods)),
		sold:    map[*instancetypes.Catalog]map[string]bool{},
	}
	for _, pool := range p.NodePools {
		w.pools[pool.Name] = pool
	}
	for _, pod := range p.Pods {
		w.pending[scheduling.PodName(pod)] = admittedPod(pod)
	}
	for _, set := range p.DaemonSets {
		w.daemons = append(w.daemons, newDaemon(set, p.Running))
	}
	known := map[string]bool{}
	for _, node := range p.Nodes {
		known[node.Name] = true
		w.nodes = append(w.nodes, w.readyNode(node))
	}
	for _, pod := range p.Running {
		if known[pod.Spec.NodeName] && !terminal(pod) {
			w.running = append(w.running, admittedPod(pod))
		}
	}
	return w
}

// terminal reports whether a pod has ended, so that kube-scheduler no longer sees it.
func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// soldBy returns the keys of the labels that any machine of the catalog has.
func (w *world) soldBy(c *instancetypes.Catalog) map[string]bool {
	keys, ok := w.sold[c]
	if ok || c == nil {
		return keys
	}
	keys = map[string]bool{}
	for t := range c.All() {
		for i := range t.Offerings {
			for key := range t.NodeLabels(t.Offerings[i]) {
				keys[key] = true
			}
		}
	}
	w.sold[c] = keys
	return keys
}

// describe words an option.
func describe(o *scheduling.LaunchOption) string {
	return fmt.Sprintf("%s %s in %s", o.InstanceType, o.CapacityType, o.Zone)
}
