package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// TaintOption is a taint of a node or of the nodes of a NodePool.
type TaintOption struct {
	taint   corev1.Taint
	startup bool
}

// Taint adds a taint.
func Taint(key, value string, effect corev1.TaintEffect) TaintOption {
	return TaintOption{taint: corev1.Taint{Key: key, Value: value, Effect: effect}}
}

// StartupTaint adds a taint that new nodes of a NodePool carry until something
// removes it. On a node it is a taint like any other.
func StartupTaint(key, value string, effect corev1.TaintEffect) TaintOption {
	return TaintOption{taint: corev1.Taint{Key: key, Value: value, Effect: effect}, startup: true}
}

func (t TaintOption) applyNode(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, t.taint) }

func (t TaintOption) applyNodePool(p *scheduling.NodePool) {
	s := &p.Spec.Template.Spec
	if t.startup {
		s.StartupTaints = append(s.StartupTaints, t.taint)
	} else {
		s.Taints = append(s.Taints, t.taint)
	}
}
