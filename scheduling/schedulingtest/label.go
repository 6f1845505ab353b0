package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// LabelOption is a label of a pod, of the nodes of a NodePool, of a node or of an
// instance type.
type LabelOption struct{ key, value string }

// Label sets a label.
func Label(key, value string) LabelOption { return LabelOption{key, value} }

func (l LabelOption) applyPod(p *corev1.Pod) { p.Labels = l.into(p.Labels) }

func (l LabelOption) applyNodePool(p *scheduling.NodePool) {
	m := &p.Spec.Template.Metadata
	m.Labels = l.into(m.Labels)
}

func (l LabelOption) applyNode(n *corev1.Node) { n.Labels = l.into(n.Labels) }

func (l LabelOption) applyType(t *instancetypes.InstanceType) { t.Labels = l.into(t.Labels) }

func (l LabelOption) into(labels map[string]string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[l.key] = l.value
	return labels
}
