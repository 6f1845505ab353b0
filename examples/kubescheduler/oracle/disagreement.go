package oracle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Kind says in what way kube-scheduler sees things differently.
type Kind string

// The kinds of disagreement.
const (
	// Refused is a pod that the plan places and kube-scheduler does not.
	Refused Kind = "refused"
	// Overlooked is a pod that the plan gives up on and kube-scheduler would place.
	Overlooked Kind = "overlooked"
)

// Disagreement is one pod and one node on which plan and kube-scheduler differ.
type Disagreement struct {
	Kind Kind
	// Pod is namespace/name.
	Pod string
	// Node is the name of the node, Machine what it is or would be bought as; "" for
	// nodes that were there before.
	Node, Machine string
	// Plugin is the filter that refuses the pod, Reason what it says. Both are empty
	// for pods that were overlooked.
	Plugin, Reason string
}

func (d Disagreement) String() string {
	node := "node " + d.Node
	if d.Machine != "" {
		node += " (" + d.Machine + ")"
	}
	if d.Kind == Overlooked {
		return fmt.Sprintf("pod %s is unschedulable to the plan, but kube-scheduler admits it to %s", d.Pod, node)
	}
	return fmt.Sprintf("pod %s is planned onto %s, but kube-scheduler refuses it: %s: %s", d.Pod, node, d.Plugin, d.Reason)
}

func refused(p Placement, machine string, r *Refusal) Disagreement {
	return Disagreement{Kind: Refused, Pod: podKey(p.Pod), Node: p.Node, Machine: machine, Plugin: r.Plugin, Reason: r.Reason}
}

func overlooked(pod *corev1.Pod, node *Node) Disagreement {
	return Disagreement{Kind: Overlooked, Pod: podKey(pod), Node: node.Name, Machine: node.Machine}
}
