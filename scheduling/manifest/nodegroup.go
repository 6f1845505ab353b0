package manifest

import (
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/former"
)

// NodeGroup is the group to which a node belongs by its labels. The zero value is the group of
// nodes whose labels name none.
type NodeGroup struct {
	// Label is the key of the label that names the group, e.g. eks.amazonaws.com/nodegroup. It is
	// the key of the instance type for nodes without a group label, and the one of the role for
	// nodes of the control plane.
	Label string
	// Name is the label's value, or "control plane".
	Name string
}

// ControlPlane reports whether the nodes run the control plane.
func (g NodeGroup) ControlPlane() bool { return strings.HasPrefix(g.Label, "node-role.kubernetes.io/") }

// Karpenters reports whether the group is the nodes of a NodePool of Karpenter, which has no least size.
func (g NodeGroup) Karpenters() bool {
	return g.Label == scheduling.NodePoolLabel || g.Label == former.PoolLabel
}

// Labels by which clouds and installers say how a node is paid for.
const (
	eksCapacityType     = "eks.amazonaws.com/capacityType"
	gkeProvisioning     = "cloud.google.com/gke-provisioning"
	gkeSpot             = "cloud.google.com/gke-spot"
	gkePreemptible      = "cloud.google.com/gke-preemptible"
	aksScaleSetPriority = "kubernetes.azure.com/scalesetpriority"
	eksctlLifecycle     = "node-lifecycle"
	nodeLifecycle       = "node.kubernetes.io/lifecycle"
	spotWorker          = "node-role.kubernetes.io/spot-worker"
)

// Labels by which clouds and installers name the group of a node.
const (
	eksNodeGroup      = "eks.amazonaws.com/nodegroup"
	eksctlNodeGroup   = "alpha.eksctl.io/nodegroup-name"
	gkeNodePool       = "cloud.google.com/gke-nodepool"
	aksAgentPool      = "kubernetes.azure.com/agentpool"
	aksAgentPoolShort = "agentpool"
	kopsInstanceGroup = "kops.k8s.io/instancegroup"
)

// groupLabels are the labels that name groups, the one that counts first.
func groupLabels() []string {
	return []string{
		scheduling.NodePoolLabel, former.PoolLabel,
		eksNodeGroup, eksctlNodeGroup, gkeNodePool, aksAgentPool, aksAgentPoolShort, kopsInstanceGroup,
	}
}

// NodeGroupOf returns the group of a node: the control plane, or the group that Karpenter, EKS, eksctl, GKE, AKS or
// kops name in its labels, or else its instance type. A nil node belongs to no group.
func NodeGroupOf(node *corev1.Node) NodeGroup {
	if node == nil {
		return NodeGroup{}
	}
	for _, role := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, ok := node.Labels[role]; ok {
			return NodeGroup{role, "control plane"}
		}
	}
	for _, key := range groupLabels() {
		if name := node.Labels[key]; name != "" {
			return NodeGroup{key, name}
		}
	}
	if name := instancetypes.OfferingOf(node).InstanceType; name != "" {
		return NodeGroup{corev1.LabelInstanceTypeStable, name}
	}
	return NodeGroup{}
}

// CapacityTypeOf returns the capacity type of a node by its labels, on demand where no label states it; told says that
// the labels are those of a cloud that labels other capacity types. A nil node is on demand.
func CapacityTypeOf(node *corev1.Node) (capacityType offerings.CapacityType, told bool) {
	if node == nil {
		return offerings.OnDemand, false
	}
	l := node.Labels
	_, worker := l[spotWorker]
	if known, err := offerings.ParseCapacityType(l[offerings.CapacityTypeLabel]); err == nil {
		return known, true // no cloud has another value
	}
	switch {
	case l[eksCapacityType] == "CAPACITY_BLOCK":
		return offerings.Reserved, true
	case l[eksCapacityType] == "SPOT", l[gkeSpot] == "true", l[gkePreemptible] == "true", l[aksScaleSetPriority] == "spot",
		l[gkeProvisioning] == "spot", l[gkeProvisioning] == "preemptible", l[eksctlLifecycle] == "spot", l[nodeLifecycle] == "spot", worker:
		return offerings.Spot, true
	}
	for _, key := range []string{eksCapacityType, gkeNodePool, aksAgentPool, aksAgentPoolShort, eksctlLifecycle, nodeLifecycle} {
		told = told || l[key] != ""
	}
	return offerings.OnDemand, told
}

// PaidFor is a copy of a node with Karpenter's label for the result of [CapacityTypeOf]; nil for no
// node (nil).
func PaidFor(node *corev1.Node) *corev1.Node {
	if node == nil {
		return nil
	}
	capacityType, _ := CapacityTypeOf(node)
	out := *node
	out.Labels = lo.Assign(node.Labels, map[string]string{offerings.CapacityTypeLabel: string(capacityType)})
	return &out
}

// PooledNode is a copy of a node of a node group with the labels of a ready node of the NodePool that stands for the
// group, and Karpenter's annotation do-not-disrupt beside Cluster Autoscaler's; nil for no node (nil).
func PooledNode(pool string, node *corev1.Node) *corev1.Node {
	if node == nil {
		return nil
	}
	out, as := PaidFor(node), instancetypes.OfferingOf(node)
	for key, value := range map[string]string{
		scheduling.NodePoolLabel: pool, scheduling.RegisteredLabel: "true", scheduling.InitializedLabel: "true",
		corev1.LabelInstanceTypeStable: as.InstanceType, offerings.ZoneLabel: as.Zone,
	} {
		if value != "" {
			out.Labels[key] = value
		}
	}
	if node.Annotations["cluster-autoscaler.kubernetes.io/scale-down-disabled"] == "true" {
		out.Annotations = lo.Assign(node.Annotations, map[string]string{"karpenter.sh/do-not-disrupt": "true"})
	}
	return out
}
