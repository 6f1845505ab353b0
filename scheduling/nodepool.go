package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Label and taint keys that Karpenter gives a meaning to.
const (
	// NodePoolLabel carries the name of the NodePool that a node belongs to.
	NodePoolLabel = "karpenter.sh/nodepool"
	// InitializedLabel is "true" on nodes of a NodePool that have become ready once.
	InitializedLabel = "karpenter.sh/initialized"
	// RegisteredLabel is "true" on nodes of a NodePool that have joined the cluster.
	RegisteredLabel = "karpenter.sh/registered"
	// DisruptedTaint marks nodes that are about to be removed.
	DisruptedTaint = "karpenter.sh/disrupted"
	// NodesResource is the name under which a NodePool limits its number of nodes.
	NodesResource corev1.ResourceName = "nodes"
	// PriceResource is the name under which a NodePool limits the sum of the prices of its nodes, in USD per hour. Karpenter
	// ignores it, because no node has a resource of this name.
	PriceResource corev1.ResourceName = "plimsoll-go.github.io/price-per-hour"
)

// NodePool defines the nodes that may be launched, with their labels, taints and limits. Its fields
// are the ones of karpenter.sh/v1 NodePools, so that a manifest written for Karpenter decodes
// unchanged. Package manifest reads older versions, and reports faults with their fields.
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NodePoolSpec `json:"spec"`
}

// NodePoolSpec is the desired behaviour of a NodePool.
type NodePoolSpec struct {
	// Template describes the nodes.
	Template NodeTemplate `json:"template"`
	// Disruption says when running nodes may be removed. It does not affect launches.
	Disruption Disruption `json:"disruption,omitempty"`
	// Limits bound the sum of the capacity (not allocatable) of all nodes of the pool, running ones
	// included, except nodes that are being deleted. The resource "nodes" bounds their number, and
	// [PriceResource] the sum of their prices in the catalog; a node that it does not have counts 0.
	Limits corev1.ResourceList `json:"limits,omitempty"`
	// Weight orders pools: pods go to the pool of the highest weight that can hold
	// them. 0 (absent) is the lowest; at most 100.
	Weight *int32 `json:"weight,omitempty"`
	// Replicas makes the pool static: it keeps this many nodes and launches none
	// for pending pods.
	Replicas *int64 `json:"replicas,omitempty"`
}

// NodeTemplate describes the nodes of a pool.
type NodeTemplate struct {
	// Metadata is put on the nodes; Spec restricts them.
	Metadata NodeMetadata     `json:"metadata,omitempty"`
	Spec     NodeTemplateSpec `json:"spec"`
}

// NodeMetadata is put on every node of a pool.
type NodeMetadata struct {
	// Labels are on the nodes from the start; Annotations are handed on.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NodeTemplateSpec is the specification of the nodes of a pool.
type NodeTemplateSpec struct {
	// Requirements narrow the instance types, zones and capacity types that the
	// pool may launch, and the values that further labels may take.
	Requirements []requirements.Selector `json:"requirements,omitempty"`
	// Taints stand on the nodes for good.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// StartupTaints are on new nodes until a controller removes them; pods need not tolerate them
	// to be planned onto a new node.
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// NodeClassRef names the provider's node class.
	NodeClassRef *NodeClassRef `json:"nodeClassRef,omitempty"`
	// ExpireAfter is how long a node lives at most; nil is the default of 720h.
	ExpireAfter *NillableDuration `json:"expireAfter,omitempty"`
	// TerminationGracePeriod bounds how long draining may take; nil is no bound.
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
}

// NodeClassRef names a provider's node class, such as an EC2NodeClass of group karpenter.k8s.aws.
// Plans copy it and do not read it.
type NodeClassRef struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
}

// Disruption says when the nodes of a pool may be removed or replaced.
type Disruption struct {
	// ConsolidationPolicy is WhenEmpty, WhenEmptyOrUnderutilized (the default) or Balanced.
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// ConsolidateAfter is how long no pod may have been added to a node or removed from it; nil is
	// 0s.
	ConsolidateAfter *NillableDuration `json:"consolidateAfter,omitempty"`
	// Budgets bound how many nodes may be disrupted at once; none is one budget of 10%.
	Budgets []Budget `json:"budgets,omitempty"`
}

// ConsolidationPolicy says which nodes of a pool consolidation may touch.
type ConsolidationPolicy string

// The consolidation policies of karpenter.sh/v1.
const (
	// WhenEmpty allows the removal of nodes without pods other than daemons.
	WhenEmpty ConsolidationPolicy = "WhenEmpty"
	// WhenEmptyOrUnderutilized also allows it for nodes whose pods cost less elsewhere.
	WhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	// Balanced is the same, but the savings must be in proportion to the disruption.
	Balanced ConsolidationPolicy = "Balanced"
)

// WhenUnderutilized is the name of [WhenEmptyOrUnderutilized] in karpenter.sh/v1beta1.
const WhenUnderutilized ConsolidationPolicy = "WhenUnderutilized"

// Budget bounds how many nodes of a pool may be disrupted at once.
type Budget struct {
	// Nodes is a count ("5") or a percentage ("10%").
	Nodes string `json:"nodes"`
	// Schedule is a cron expression in UTC; with it the budget holds only for
	// Duration after each hit.
	Schedule *string          `json:"schedule,omitempty"`
	Duration *metav1.Duration `json:"duration,omitempty"`
	// Reasons limit the budget to these reasons; none means all.
	Reasons []string `json:"reasons,omitempty"`
}

// Weight returns the pool's weight, 0 where none is set.
func (p *NodePool) Weight() int32 {
	if p.Spec.Weight == nil {
		return 0
	}
	return *p.Spec.Weight
}
