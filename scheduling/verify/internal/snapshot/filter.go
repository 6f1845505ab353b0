package snapshot

import (
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// Filter is a rule of kube-scheduler about one pod on one node, named as its plugin; filters are joined by |.
type Filter uint8

// The filters beside those of topology terms, in the order of [Node.Refusals].
const (
	NodeAffinity     Filter = 1 << iota // node selector and required node affinity
	TaintToleration                     // taints NoSchedule and NoExecute
	NodePorts                           // host ports
	VolumeBinding                       // where volumes can be used: node affinity, topologies, and labels (VolumeZone)
	NodeVolumeLimits                    // volumes that the node can attach
	NodeResources                       // requests
)

const (
	// AllFilters are those that one more pod has to pass.
	AllFilters = LastingFilters | NodePorts | NodeVolumeLimits | NodeResources
	// LastingFilters do not depend on the other pods of the node.
	LastingFilters = NodeAffinity | TaintToleration | VolumeBinding
)

// Refusal is a filter that a pod does not pass on a node. Its text names the cause: the taints, port, claim, driver or
// resources.
type Refusal struct {
	Filter Filter
	taints []corev1.Taint
	port   Port
	claim  string
	attach string
	short  []corev1.ResourceName
}

func (r Refusal) String() string {
	switch r.Filter {
	case NodeAffinity:
		return "its node selector or node affinity does not match the labels"
	case TaintToleration:
		return "it does not tolerate " + TaintText(r.taints)
	case NodePorts:
		return fmt.Sprintf("its host port %v is in use", r.port)
	case VolumeBinding:
		return fmt.Sprintf("the volume of its claim %s cannot be used on the node", r.claim)
	case NodeVolumeLimits:
		return r.attach
	}
	return fmt.Sprintf("it requests more %v than is free", r.short)
}

// Refusals yields the filters, of those asked for, that refuse the pod beside the pods that the node holds. The other
// functions about a pod on a node ask it, so that a rule stands once.
func (n *Node) Refusals(t *Pod, filters Filter) iter.Seq[Refusal] {
	return func(yield func(Refusal) bool) {
		if filters&NodeAffinity != 0 && !n.Matches(t.Selector) && !yield(Refusal{Filter: NodeAffinity}) {
			return
		}
		if filters&TaintToleration != 0 {
			if bad := untolerated(n.Taints, t.Object.Spec.Tolerations); len(bad) > 0 && !yield(Refusal{Filter: TaintToleration, taints: bad}) {
				return
			}
		}
		if filters&NodePorts != 0 {
			if p, busy := clash(t.Ports, n.Taken); busy && !yield(Refusal{Filter: NodePorts, port: p}) {
				return
			}
		}
		if filters&VolumeBinding != 0 {
			if claim, bad := n.outOfReach(t.Mounts); bad && !yield(Refusal{Filter: VolumeBinding, claim: claim}) {
				return
			}
		}
		if filters&NodeVolumeLimits != 0 {
			if why := n.tooMany(t.Mounts); why != "" && !yield(Refusal{Filter: NodeVolumeLimits, attach: why}) {
				return
			}
		}
		if filters&NodeResources != 0 {
			if short := Exceeding(t.Requests, n.Free); len(short) > 0 {
				yield(Refusal{Filter: NodeResources, short: short})
			}
		}
	}
}

// Admits reports whether none of the filters refuses the pod.
func (n *Node) Admits(t *Pod, filters Filter) bool {
	for range n.Refusals(t, filters) {
		return false
	}
	return true
}
