package shadow

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// window has the objects by which the cluster is taken back to the moment before a decision. Events of pods, nodes and NodeClaims
// come on watches of their own, in any order: the session before the first event of the decision may have its effects
// already, or may lack pods that were its cause.
type window struct {
	before *provisioning.Session
	claims []*manifest.NodeClaim
	// created are the nodes of created NodeClaims, removed those of removed ones.
	created, removed map[string]bool
	// pods are those that were created before the last NodeClaim and are pending or on its nodes now.
	pods []*corev1.Pod
}

// problem is the cluster before the decision: without the created nodes, whose pods are pending, with the removed ones as
// they were, and the number of pods that the decision was about. Pods of other nodes that are being removed are pending,
// too, because nodes that are starting have room reserved for them: Karpenter plans them in the same way.
func (w *window) problem() (p scheduling.Problem, pods int) {
	p = w.before.Problem()
	nodes, draining := p.Nodes[:0:0], map[string]bool{}
	for _, node := range p.Nodes {
		switch {
		case w.created[node.Name]:
			continue
		case w.removed[node.Name]:
			node = asBefore(node)
		case leavingNode(node):
			draining[node.Name] = true
		}
		nodes = append(nodes, node)
	}
	p.Nodes = nodes
	known := map[string]bool{}
	for _, pod := range p.Pods {
		known[scheduling.PodName(pod)] = true
	}
	running := p.Running[:0:0]
	for _, pod := range p.Running {
		known[scheduling.PodName(pod)] = true
		switch at := pod.Spec.NodeName; {
		case w.created[at]:
			if lifecycle.Evictable(pod) && !lifecycle.Leaving(pod) {
				p.Pods = append(p.Pods, unbound(pod))
			}
		case draining[at]:
			if lifecycle.Evictable(pod) && !lifecycle.Leaving(pod) {
				p.Pods = append(p.Pods, scheduling.Successor(pod, ""))
			}
		case w.removed[at]:
			if lifecycle.Evictable(pod) {
				pods++
			}
			running = append(running, pod)
		default:
			running = append(running, pod)
		}
	}
	p.Running = running
	for _, pod := range w.pods {
		if !known[scheduling.PodName(pod)] {
			p.Pods = append(p.Pods, unbound(pod))
		}
	}
	return p, pods + len(p.Pods)
}

// asBefore is a node before Karpenter began to remove it.
func asBefore(node *corev1.Node) *corev1.Node {
	if !leavingNode(node) {
		return node
	}
	out := *node
	out.DeletionTimestamp, out.Spec.Taints = nil, nil
	for _, t := range node.Spec.Taints {
		if t.Key != scheduling.DisruptedTaint {
			out.Spec.Taints = append(out.Spec.Taints, t)
		}
	}
	return &out
}

// leavingNode reports whether a node is being deleted, or has Karpenter's taint for nodes that will be.
func leavingNode(node *corev1.Node) bool {
	if node.DeletionTimestamp != nil {
		return true
	}
	for _, t := range node.Spec.Taints {
		if t.Key == scheduling.DisruptedTaint {
			return true
		}
	}
	return false
}

// unbound is a pod before it was bound.
func unbound(pod *corev1.Pod) *corev1.Pod {
	out := *pod
	out.Spec.NodeName, out.DeletionTimestamp = "", nil
	out.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return &out
}

// close ends the window of the open decision, and has it planned.
func (s *Shadow) close(d *pendingDecision) {
	s.open = nil
	w := d.window
	w.created, w.removed = map[string]bool{}, map[string]bool{}
	created := map[string]bool{}
	last := d.At
	for name, isNew := range d.claims {
		c := s.claims[name]
		switch {
		case c == nil:
		case isNew:
			w.created[c.node], created[name] = true, true
			if at := c.object.CreationTimestamp.Time; at.After(last) {
				last = at
			}
		default:
			w.removed[c.node] = true
		}
	}
	w.claims = s.nodeClaims(created)
	for _, name := range sortedKeys(s.state.Pending()) {
		if pod := s.state.Pending()[name]; !pod.CreationTimestamp.After(last) {
			w.pods = append(w.pods, pod)
		}
	}
	for node := range w.created {
		for _, pod := range s.state.PodsOn(node) {
			if lifecycle.Evictable(pod) {
				w.pods = append(w.pods, pod)
			}
		}
	}
	s.jobs.add(s.compare(d))
}
