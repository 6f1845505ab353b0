package manifest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodeClaim is a machine that was asked for. Its fields are those of
// karpenter.sh/v1 NodeClaims, so far as they matter here.
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   NodeClaimSpec   `json:"spec"`
	Status NodeClaimStatus `json:"status,omitzero"`
}

// NodeClaimSpec says what machine is wanted.
type NodeClaimSpec struct {
	// Taints stand on the node for good, StartupTaints until something removes them.
	Taints        []corev1.Taint `json:"taints,omitempty"`
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements narrow type, zone and capacity type.
	Requirements []requirements.Selector `json:"requirements"`
	// Resources are what the machine must offer at least, daemons included.
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

// NodeClaimStatus says what became of a claim.
type NodeClaimStatus struct {
	// NodeName is the claim's node once it has joined, ProviderID the provider's name of the
	// machine, Capacity and Allocatable what the machine has.
	NodeName    string              `json:"nodeName,omitempty"`
	ProviderID  string              `json:"providerID,omitempty"`
	Capacity    corev1.ResourceList `json:"capacity,omitempty"`
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Conditions hold among others Launched, Registered, Initialized, Drifted and
	// Consolidatable.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastPodEventTime is when a pod last came or went.
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
}
