package manifest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodeClaim is a request for a node. Its fields are the ones of karpenter.sh/v1 NodeClaims that
// are used here.
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   NodeClaimSpec   `json:"spec"`
	Status NodeClaimStatus `json:"status,omitzero"`
}

// NodeClaimSpec describes the requested node.
type NodeClaimSpec struct {
	// Taints stand on the node for good, StartupTaints until something removes them.
	Taints        []corev1.Taint `json:"taints,omitempty"`
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements narrow type, zone and capacity type.
	Requirements []requirements.Selector `json:"requirements"`
	// Resources are the least resources of the node, daemons included.
	Resources NodeClaimResources `json:"resources,omitzero"`
	// NodeClassRef names the provider's node class.
	NodeClassRef *scheduling.NodeClassRef `json:"nodeClassRef,omitempty"`
	// TerminationGracePeriod bounds how long draining may take; nil is no bound.
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how long the node lives at most; nil is the default of 720h.
	ExpireAfter *scheduling.NillableDuration `json:"expireAfter,omitempty"`
}

// NodeClaimResources are the resources of a [NodeClaimSpec].
type NodeClaimResources struct {
	// Requests are amounts by resource, in quantities of Kubernetes.
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// NodeClaimStatus is the state of a claim.
type NodeClaimStatus struct {
	// NodeName is the claim's node once it has joined, ProviderID the provider's name of the
	// node, Capacity and Allocatable its resources.
	NodeName    string              `json:"nodeName,omitempty"`
	ProviderID  string              `json:"providerID,omitempty"`
	Capacity    corev1.ResourceList `json:"capacity,omitempty"`
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Conditions are e.g. Launched, Registered, Initialized, Drifted and Consolidatable.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastPodEventTime is when a pod last came or went.
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
}

// claimNodes returns the nodes of the input together with those that NodeClaims
// will bring, and notes in hosts which node belongs to which claim.
func claimNodes(found *findings, o *objects, hosts map[string]string) []*corev1.Node {
	nodes := slices.Clone(o.problem.Nodes)
	byName, byProvider := map[string]int{}, map[string]int{}
	for i, node := range nodes {
		byName[node.Name] = i
		if id := node.Spec.ProviderID; id != "" {
			byProvider[id] = i
		}
	}
	for _, claim := range o.claims {
		i, ok := byName[claim.Status.NodeName]
		if !ok && claim.Status.ProviderID != "" {
			i, ok = byProvider[claim.Status.ProviderID]
		}
		if ok {
			nodes[i] = claimed(nodes[i], claim)
			hosts[claim.Name] = nodes[i].Name
			continue
		}
		if claim.Status.NodeName == "" {
			if _, taken := byName[claim.Name]; taken {
				hosts[claim.Name] = claim.Name
				continue // the claim is named like its node, as with several providers
			}
		}
		nodes = append(nodes, inFlight(found, claim))
		hosts[claim.Name] = nodes[len(nodes)-1].Name
	}
	return nodes
}

// claimed returns a node with the state of its claim: being deleted or, until the node is
// initialized, labels and taints.
func claimed(node *corev1.Node, claim *NodeClaim) *corev1.Node {
	leaving := claim.DeletionTimestamp != nil && node.DeletionTimestamp == nil
	joining := node.Labels[scheduling.RegisteredLabel] != "true" && node.Labels[scheduling.InitializedLabel] != "true"
	if !leaving && !joining {
		return node
	}
	n := node.DeepCopy()
	if leaving {
		n.DeletionTimestamp = claim.DeletionTimestamp
	}
	if joining {
		n.Labels = claimLabels(claim)
		maps.Copy(n.Labels, node.Labels)
		n.Spec.Taints = slices.Clone(claim.Spec.Taints)
	}
	return n
}

// inFlight returns the node that a claim will bring. Its resources are the ones that the claim
// reports; before the machine is launched, the ones of its type or, if the type is open, the
// requests of the claim, which are a lower bound.
func inFlight(found *findings, claim *NodeClaim) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:              claim.Name,
			Labels:            claimLabels(claim),
			Annotations:       maps.Clone(claim.Annotations),
			CreationTimestamp: claim.CreationTimestamp,
			DeletionTimestamp: claim.DeletionTimestamp,
		},
		Spec: corev1.NodeSpec{ProviderID: claim.Status.ProviderID, Taints: slices.Clone(claim.Spec.Taints)},
		Status: corev1.NodeStatus{
			Capacity:    claim.Status.Capacity.DeepCopy(),
			Allocatable: claim.Status.Allocatable.DeepCopy(),
		},
	}
	if claim.Status.NodeName != "" {
		node.Name = claim.Status.NodeName
	}
	if len(node.Status.Allocatable) == 0 && node.Labels[corev1.LabelInstanceTypeStable] == "" {
		found.note("NodeClaim/"+claim.Name, "is not launched and its instance type is open: it counts as a node of exactly the size that it requests")
		node.Status.Capacity = claim.Spec.Resources.Requests.DeepCopy()
		node.Status.Allocatable = claim.Spec.Resources.Requests.DeepCopy()
	}
	return node
}

// claimLabels are the labels that the node of a claim is sure to have: the claim's own, and
// requirements with one value.
func claimLabels(claim *NodeClaim) map[string]string {
	labels := map[string]string{}
	set, err := requirements.FromSelectors(claim.Spec.Requirements)
	if err == nil {
		for r := range set.All() {
			if values := r.Values(); r.Operator() == requirements.In && len(values) == 1 {
				labels[r.Key()] = values[0]
			}
		}
	}
	maps.Copy(labels, claim.Labels)
	return labels
}
