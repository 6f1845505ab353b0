package cluster_test

import (
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// naive is a cluster of which each question is answered by looking at all pods and nodes.
type naive struct {
	nodes   *[]*corev1.Node
	on      map[*corev1.Pod]*corev1.Node
	deleted map[*corev1.Pod]bool
}

func (x naive) of(p *corev1.Pod) *corev1.Node { return x.on[p] }

func (x naive) place(p *corev1.Pod, n *corev1.Node, deleted bool) { x.on[p], x.deleted[p] = n, deleted }

func (x naive) remove(p *corev1.Pod) { delete(x.on, p) }

func (x naive) fork() naive { return naive{x.nodes, maps.Clone(x.on), maps.Clone(x.deleted)} }

func selects(s *metav1.LabelSelector, p *corev1.Pod) bool {
	return labels.SelectorFromSet(s.MatchLabels).Matches(labels.Set(p.Labels))
}

// suits reports whether a pod's node selector and tolerations let it onto a node.
func suits(p *corev1.Pod, n *corev1.Node) (selected, tolerated bool) {
	selected = labels.SelectorFromSet(p.Spec.NodeSelector).Matches(labels.Set(n.Labels))
	return selected, len(n.Spec.Taints) == 0 || len(p.Spec.Tolerations) > 0
}

// count is how many pods match on nodes that have the value of a label.
func (x naive) count(key, value string, matches func(*corev1.Pod, *corev1.Node) bool) (n int) {
	for p, on := range x.on {
		if v, ok := on.Labels[key]; ok && v == value && matches(p, on) {
			n++
		}
	}
	return n
}

// admits reports whether the filters NodeResourcesFit, NodePorts, TaintToleration, NodeAffinity, PodTopologySpread and
// InterPodAffinity let a pod onto a node.
func (x naive) admits(p *corev1.Pod, n *corev1.Node) bool {
	selected, tolerated := suits(p, n)
	return selected && tolerated && x.hasRoom(p, n) && x.spreads(p, n) && x.follows(p, n) && x.keepsApart(p, n)
}

func (x naive) hasRoom(p *corev1.Pod, n *corev1.Node) bool {
	free := n.Status.Allocatable.Cpu().MilliValue() - p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	for other, on := range x.on {
		if on != n {
			continue
		}
		free -= other.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		if len(other.Spec.Containers[0].Ports) > 0 && len(p.Spec.Containers[0].Ports) > 0 {
			return false
		}
	}
	return free >= 0
}

// spreads keeps all constraints of PodTopologySpread.
func (x naive) spreads(p *corev1.Pod, n *corev1.Node) bool {
	constraints := p.Spec.TopologySpreadConstraints
	for i := range constraints {
		c := &constraints[i]
		looksAt := func(n *corev1.Node) bool { // the nodes that the constraint counts
			for j := range constraints {
				if _, ok := n.Labels[constraints[j].TopologyKey]; !ok {
					return false
				}
			}
			selected, tolerated := suits(p, n)
			honorAffinity := c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
			honorTaints := c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
			return (selected || !honorAffinity) && (tolerated || !honorTaints)
		}
		counted := func(o *corev1.Pod, on *corev1.Node) bool {
			return !x.deleted[o] && selects(c.LabelSelector, o) && looksAt(on)
		}
		value, ok := n.Labels[c.TopologyKey]
		if !ok {
			return false
		}
		domains := map[string]bool{}
		for _, other := range *x.nodes {
			if looksAt(other) {
				domains[other.Labels[c.TopologyKey]] = true
			}
		}
		least := math.MaxInt
		for domain := range domains {
			least = min(least, x.count(c.TopologyKey, domain, counted))
		}
		if c.MinDomains != nil && len(domains) < int(*c.MinDomains) || len(domains) == 0 {
			least = 0
		}
		here := x.count(c.TopologyKey, value, counted)
		if selects(c.LabelSelector, p) {
			here++
		}
		if here-least > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

// follows keeps the pod affinity. The first pod of a group that selects itself may go anywhere with the topology key.
func (x naive) follows(p *corev1.Pod, n *corev1.Node) bool {
	for _, t := range p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		value, ok := n.Labels[t.TopologyKey]
		if !ok {
			return false
		}
		matches := func(o *corev1.Pod, _ *corev1.Node) bool { return selects(t.LabelSelector, o) }
		anywhere := 0
		for o, on := range x.on {
			if _, ok := on.Labels[t.TopologyKey]; ok && matches(o, on) {
				anywhere++
			}
		}
		if x.count(t.TopologyKey, value, matches) == 0 && (anywhere > 0 || !selects(t.LabelSelector, p)) {
			return false
		}
	}
	return true
}

// keepsApart keeps the anti-affinity of the pod and of the pods that run.
func (x naive) keepsApart(p *corev1.Pod, n *corev1.Node) bool {
	for _, t := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if value, ok := n.Labels[t.TopologyKey]; ok && x.count(t.TopologyKey, value, func(o *corev1.Pod, _ *corev1.Node) bool { return selects(t.LabelSelector, o) }) > 0 {
			return false
		}
	}
	for o, on := range x.on {
		for _, t := range o.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			there, ok := on.Labels[t.TopologyKey]
			if here, also := n.Labels[t.TopologyKey]; ok && also && here == there && selects(t.LabelSelector, p) {
				return false
			}
		}
	}
	return true
}
