package manifest

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// placer sorts pods into those that run and those that are to be placed.
type placer struct {
	c       *collector
	owners  *owners
	problem *scheduling.Problem
	nodes   map[string]bool
	lost    map[string]*sighting // pods on nodes that are not in the input, by node
	stray   sighting             // pods of DaemonSets that are not in the input
}

// place puts one pod where it belongs.
func (p *placer) place(pod *corev1.Pod) {
	switch node := pod.Spec.NodeName; {
	case finished(pod):
	case node != "" && p.nodes[node]:
		p.problem.Running = append(p.problem.Running, pod)
	case node != "":
		count(p.lost, node, qualified(pod), "")
	case pod.DeletionTimestamp != nil:
	default:
		p.pending(pod)
	}
}

// pending puts a pod without a node to those that are to be placed, unless it is one
// that comes with a node and waits for it.
func (p *placer) pending(pod *corev1.Pod) {
	owner, ok := controllerOf(pod)
	switch {
	case ok && owner.kind == "Node":
	case ok && owner.kind == "DaemonSet":
		if !p.owners.inInput[owner] {
			if p.stray.count == 0 {
				p.stray.object = qualified(pod)
			}
			p.stray.count++
		}
	default:
		p.problem.Pods = append(p.problem.Pods, pod)
	}
}

// report warns about pods that were left out.
func (p *placer) report() {
	if len(p.lost) > 0 {
		names := slices.Sorted(maps.Keys(p.lost))
		first, pods := p.lost[names[0]], 0
		for _, s := range p.lost {
			pods += s.count
		}
		p.c.warn(first.object, fmt.Sprintf("runs on node %s, which is not in the input, and was left out%s%s", names[0], others(pods), p.noNodes()))
	}
	if p.stray.count > 0 {
		p.c.warn(p.stray.object, "belongs to a DaemonSet that is not in the input, so new nodes are planned without it"+others(p.stray.count))
	} else if len(p.c.daemonSets) == 0 && len(p.problem.NodePools)+len(p.problem.Nodes) > 0 && len(p.problem.Pods)+len(p.problem.Running) > 0 {
		p.c.warn("DaemonSets", "the input has none, so new nodes are planned without the pods that run on every node; add what kubectl get ds -A -o json prints")
	}
}

// noNodes says what to do if no node is in the input: then they were not asked for.
func (p *placer) noNodes() string {
	if len(p.nodes) > 0 {
		return ""
	}
	return "; the input has no node at all: add what kubectl get nodes -o json prints, to make use of their room"
}
