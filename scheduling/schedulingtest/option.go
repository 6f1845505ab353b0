package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// PodOption says one thing about a pod.
type PodOption interface{ applyPod(*corev1.Pod) }

// NodePoolOption says one thing about a NodePool.
type NodePoolOption interface {
	applyNodePool(*scheduling.NodePool)
}

// NodeOption says one thing about a node.
type NodeOption interface{ applyNode(*corev1.Node) }

// TypeOption says one thing about an instance type.
type TypeOption interface {
	applyType(*instancetypes.InstanceType)
}

type (
	podFunc  func(*corev1.Pod)
	poolFunc func(*scheduling.NodePool)
	nodeFunc func(*corev1.Node)
	typeFunc func(*instancetypes.InstanceType)
)

func (f podFunc) applyPod(p *corev1.Pod)                   { f(p) }
func (f poolFunc) applyNodePool(p *scheduling.NodePool)    { f(p) }
func (f nodeFunc) applyNode(n *corev1.Node)                { f(n) }
func (f typeFunc) applyType(t *instancetypes.InstanceType) { f(t) }
