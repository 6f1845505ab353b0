package scheduling

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SpotPolicy bounds how many pods of a workload may run on spot nodes. It is an object of this project's own API group
// (plimsoll-go.github.io/v1), because neither Kubernetes nor Karpenter has one.
//
// Pods of the policy are the running and pending pods that it selects, without pods that have finished, are being deleted
// or belong to a DaemonSet, static pods, virtual pods, and pods that are held off by a scheduling gate. Of n pods at least
// n − ⌊n·MaxSpotPercent÷100⌋ and at least MinOnDemand (all, if there are fewer) must not be on nodes of the capacity type
// spot; nodes of any other capacity type, and nodes without one, count as on demand. Pending pods count among the n even
// where they find no node.
//
// Plans choose as many pods as must be on demand, and treat each as if it required karpenter.sh/capacity-type NotIn
// [spot], as an admission webhook for the policy would have it. They are, in this order, pods that may not be on spot
// nodes anyway; pods that run on, or are nominated to, nodes on demand; pending pods; pending pods nominated to spot nodes;
// pods that run on spot nodes; and pods that require spot nodes, which then stay pending. Equal pods come in the order of
// their nodes, then of their names. Policies are read in the order of their names, and a pod that one policy has chosen
// counts for the next. Lower bounds hold for the pods that are chosen.
type SpotPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SpotPolicySpec `json:"spec"`
}

// SpotPolicySpec selects pods, and states their bounds. One of the two bounds is required.
type SpotPolicySpec struct {
	// PodSelector selects pods by their labels. It is required; an empty selector selects all pods.
	PodSelector *metav1.LabelSelector `json:"podSelector"`
	// Namespaces are those of the pods; empty is all namespaces.
	Namespaces []string `json:"namespaces,omitempty"`
	// MaxSpotPercent is the largest share of the pods on spot nodes, in percent, 0 to 100, rounded down to whole pods;
	// nil is no bound.
	MaxSpotPercent *int32 `json:"maxSpotPercent,omitempty"`
	// MinOnDemand is the smallest number of pods that are not on spot nodes; 0 is no bound.
	MinOnDemand int32 `json:"minOnDemand,omitempty"`
}

// SpotShare is the division of the pods of a [SpotPolicy] between spot and on-demand nodes.
type SpotShare struct {
	// Policy is the name of the policy.
	Policy string `json:"policy"`
	// Pods is the number of its pods, MinOnDemand how many of them must not be on spot nodes.
	Pods        int `json:"pods"`
	MinOnDemand int `json:"minOnDemand"`
	// OnDemand and Spot count the pods on nodes once the plan is carried out; a pod of a launch with a spot option
	// counts as on spot, in steps of consolidation a pod of a launch whose first option is spot. The remaining pods are
	// pending.
	OnDemand int `json:"onDemand"`
	Spot     int `json:"spot"`
	// SpotAfterScheduling is the estimated number on spot nodes if the pods carry no requirement and kube-scheduler,
	// which does not know the policy, binds them where it likes. It is set only with [PlacementFree].
	SpotAfterScheduling *int `json:"spotAfterScheduling,omitempty"`
	// OnDemandPods are the pods chosen to be on demand, by name; there are MinOnDemand of them. Unless they are bound as
	// planned, they must get the requirement karpenter.sh/capacity-type NotIn [spot], e.g. by a Deployment of their own.
	OnDemandPods []types.NamespacedName `json:"-"`
}
