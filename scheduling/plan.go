package scheduling

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
)

// Plan lists the nodes to launch and the place of each pod. Every pod of the problem is exactly
// once in Launches, Existing or Unschedulable. The JSON names are a contract.
type Plan struct {
	// Launches are the nodes to launch, in the order pool, price, type, name.
	Launches []Launch `json:"launches"`
	// Existing are the nodes, running or in flight, that receive pods, by name.
	Existing []Assignment `json:"existing"`
	// Unschedulable are the pods that fit on no existing node and on no node that may be launched.
	Unschedulable []Unschedulable `json:"unschedulable"`
	// Warnings are findings that did not prevent the plan.
	Warnings []Warning `json:"warnings"`
	// Summary adds up.
	Summary Summary `json:"summary"`
	// Bill is the bill of all nodes under the commitments and discounts of the command's flag --billing; nil without it, and for a
	// plan of the library.
	Bill *billing.Statement `json:"bill,omitempty"`
	// Settings are the flags of the command that has made the plan, by name, each with its values in their order; nil
	// for a plan of the library. A check of the plan by the command takes its settings from them.
	Settings map[string][]string `json:"settings,omitempty"`
}

// Launch is a node to launch. Any of its options holds all of its pods.
type Launch struct {
	// Name is unique in the plan: the pool's name and a number.
	Name string `json:"name"`
	// NodePool is the pool that pays.
	NodePool string `json:"nodePool"`
	// Options are the offerings to request from the provider, best first. Limits of NodePools and
	// reservations hold whichever option each launch gets, so that launches can be carried out side by
	// side. Where minValues or a policy's flexibility need more options than that, they hold if at
	// most one launch does not get its first option, and the plan has a warning.
	Options []LaunchOption `json:"options"`
	// Price is that of Options[0].
	Price offerings.Price `json:"price"`
	// Pods are the pods planned onto the node, as namespace/name, sorted.
	Pods []string `json:"pods"`
	// Requests are the sum of the pods' requests and of the daemons that will run
	// on Options[0].
	Requests corev1.ResourceList `json:"requests"`
	// Labels are the labels that the NodePool gives the node, with a value chosen for every label
	// that the pool leaves open.
	Labels map[string]string `json:"labels"`
	// Taints are the pool's taints; StartupTaints its taints until the node is ready.
	Taints        []corev1.Taint `json:"taints"`
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements are the requirements of the pool and the pods, which every option meets.
	Requirements []requirements.Selector `json:"requirements"`
	// MinValuesRelaxed says that minValues in Requirements are lower than the
	// pool's, as MinValuesBestEffort allows.
	MinValuesRelaxed bool `json:"minValuesRelaxed,omitempty"`
}

// LaunchOption is an offering that a node can be launched from.
type LaunchOption struct {
	// InstanceType, Zone and CapacityType name the offering in the catalog.
	InstanceType string                 `json:"instanceType"`
	Zone         string                 `json:"zone"`
	CapacityType offerings.CapacityType `json:"capacityType"`
	// Price is the price of the node in USD per hour.
	Price offerings.Price `json:"price"`
	// ReservationID is the reservation, inventory or commitment that it draws on; "" for none.
	ReservationID string `json:"reservationID,omitempty"`
	// Commitment says that ReservationID is a commitment to pay, which the provider is not told at the launch.
	Commitment bool `json:"commitment,omitempty"`
	// InterruptionRate is the share of these spot nodes that are interrupted in a month, 0 to 1.
	InterruptionRate float64 `json:"interruptionRate,omitempty"`
	// Estimated is that of the offering: the fields whose values are no figures of the
	// catalog's source. The catalog's memory is shared.
	Estimated []string `json:"estimated,omitempty"`
}

// Key names the offering, to be marked in [Problem.Unavailable] where it cannot be had.
func (o *LaunchOption) Key() offerings.Key {
	return offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID}
}

// Assignment is the pods that a running or in-flight node receives.
type Assignment struct {
	// Node is the node's name.
	Node string `json:"node"`
	// Pods are as namespace/name, sorted.
	Pods []string `json:"pods"`
}

// Placement is where a plan puts a pod: onto a launch or onto a node.
type Placement struct {
	// Launch is the launch of the plan; nil if the pod is planned on an existing node.
	Launch *Launch
	// Node is the name of that node; "" if it is planned on a launch.
	Node string
}

// Name is that of the launch or of the node.
func (p Placement) Name() string {
	if p.Launch != nil {
		return p.Launch.Name
	}
	return p.Node
}

// Placements yields every pod with a place: the pods of launches first, then the pods of existing
// nodes, in the plan's order.
func (p *Plan) Placements() iter.Seq2[types.NamespacedName, Placement] {
	return func(yield func(types.NamespacedName, Placement) bool) {
		all := func(pods []string, at Placement) bool {
			return !slices.ContainsFunc(pods, func(pod string) bool { return !yield(podKey(pod), at) })
		}
		for i := range p.Launches {
			if l := &p.Launches[i]; !all(l.Pods, Placement{Launch: l}) {
				return
			}
		}
		for _, a := range p.Existing {
			if !all(a.Pods, Placement{Node: a.Node}) {
				return
			}
		}
	}
}

// SuccessorUID is the UID of the pod that a controller makes after an eviction, because the real
// one is not known in advance: another pod of the same name, for which the claims of ephemeral
// volumes are made again.
const SuccessorUID types.UID = "successor"

// Successor returns the pod that the controller of a pod creates once it is evicted, on a node or, with "", without a node
// yet. It has the same name and spec, and [SuccessorUID]; allocated resources of a resize in place, and the claims of
// ephemeral volumes, belong to the old pod only. It shares memory with the pod. It is nil for no pod (nil).
func Successor(pod *corev1.Pod, node string) *corev1.Pod {
	if pod == nil {
		return nil
	}
	out := *pod
	out.Spec.NodeName, out.DeletionTimestamp, out.UID = node, nil, SuccessorUID
	s := &out.Status
	s.NominatedNodeName, s.Resources, s.AllocatedResources, s.ContainerStatuses, s.InitContainerStatuses = "", nil, nil, nil, nil
	return &out
}

// PodName is the pod as plans name it: namespace/name, where no namespace is "default"; "" for
// no pod (nil).
func PodName(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return cmp.Or(pod.Namespace, corev1.NamespaceDefault) + "/" + pod.Name
}

// podKey reads namespace/name.
func podKey(pod string) types.NamespacedName {
	namespace, name, _ := strings.Cut(pod, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// Unschedulable is a pod that could not be placed, and why.
type Unschedulable struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Message says it in one sentence for people.
	Message string `json:"message"`
	// Reasons count the options and nodes by the constraint that ruled them out; most frequent
	// first.
	Reasons []ReasonCount `json:"reasons"`
	// Fixes are the smallest changes that place the pod, nearest first, a few of them. Each was
	// tried: after the plan and the change the pod has a place. They are empty where none was
	// found, too many kinds of pods are refused, or the deadline has passed; the message says so.
	Fixes []string `json:"fixes,omitempty"`
	// Changes are the same in a form for programs.
	Changes []Change `json:"changes,omitempty"`
}

// Warning is something noticed about an object of the problem.
type Warning struct {
	// Object is namespace/name, or kind/name for objects without a namespace.
	Object  string `json:"object"`
	Message string `json:"message"`
	// Note says that nothing is wrong with the object: Message states what was assumed about it, or how it was read. Any
	// other warning says why the answer may be wrong, e.g. because a part of the input was left out.
	Note bool `json:"note,omitempty"`
}

// Status is the reason for the end of a search.
type Status string

// The statuses.
const (
	// StatusOptimal says that the price equals the lower bound: no plan is cheaper.
	StatusOptimal Status = "optimal"
	// StatusComplete says that the search ran its course.
	StatusComplete Status = "complete"
	// StatusDeadline says that the context's deadline ended the search; the plan is
	// complete and verified, but a further search might have made it cheaper, and
	// another run may end elsewhere.
	StatusDeadline Status = "deadline"
)

// Summary adds a plan up.
type Summary struct {
	// Pods were to be placed; Placed were. Virtual pods are not among them: RoomKept counts these.
	Pods   int `json:"pods"`
	Placed int `json:"placed"`
	// Nodes is the number of launches.
	Nodes int `json:"nodes"`
	// PricePerHour is the sum of the launches' prices.
	PricePerHour offerings.Price `json:"pricePerHour"`
	// ExpectedPerHour is PricePerHour plus the expected costs beside the price of instances; set only where
	// the policy has such costs ([Policy.NodeOverhead], [Policy.InterruptionCost]). Bound and gap are
	// then about this price.
	ExpectedPerHour offerings.Price `json:"expectedPerHour,omitempty"`
	// NodeOverheadPerHour is the assumed cost of a node beside its instance ([Policy.NodeOverhead]).
	NodeOverheadPerHour offerings.Price `json:"nodeOverheadPerHour,omitempty"`
	// AfterScheduling is the estimated price once kube-scheduler has bound the pods; set only with
	// [PlacementFree]. It is nil, with a warning, where too many pods depend on each other, or
	// where a deadline passed first.
	AfterScheduling *AfterScheduling `json:"afterScheduling,omitempty"`
	// LowerBoundPerHour is proven by the certificate: no plan that places at least the placed pods
	// and keeps the rules in its description costs less. It is 0 where a plan may cost nothing.
	LowerBoundPerHour offerings.Price `json:"lowerBoundPerHour"`
	// Gap is (price − bound) ÷ bound, and 0 where the bound is 0, which proves no more than that a
	// price is not negative.
	Gap float64 `json:"gap"`
	// Status is the reason for the end of the search.
	Status Status `json:"status"`
	// Pools and CapacityTypes split nodes and price.
	Pools         []Share `json:"pools,omitempty"`
	CapacityTypes []Share `json:"capacityTypes,omitempty"`
	// SpotShares are the divisions by [Problem.SpotPolicies], by name of the policy.
	SpotShares []SpotShare `json:"spotShares,omitempty"`
	// WithoutSpotPolicies is a quick plan of the same problem without SpotPolicies, and WithoutSpotPoliciesPerHour its expected price
	// ([Policy.ExpectedPrice]), in USD per hour: the difference to the price of this plan is about the cost of the policies. It has
	// no lower bound, no reasons and no warnings. Both are nil without policies, with [Policy.NoReasons], and where a deadline has
	// passed.
	WithoutSpotPolicies        *Plan            `json:"withoutSpotPolicies,omitempty"`
	WithoutSpotPoliciesPerHour *offerings.Price `json:"withoutSpotPoliciesPerHour,omitempty"`
	// Resources are, for each resource, the capacity of the launched nodes and its use.
	Resources []ResourceUse `json:"resources,omitempty"`
	// PodsWithoutRequests is the number of pods that ask for neither CPU nor memory.
	PodsWithoutRequests int `json:"podsWithoutRequests,omitempty"`
	// Catalog is the source of the prices of [Problem.Catalog].
	Catalog instancetypes.Origin `json:"catalog,omitzero"`
	// RoomKept is the room of virtual pods; nil without such pods.
	RoomKept *RoomKept `json:"roomKept,omitempty"`
	// Certificate proves the lower bound.
	Certificate *certificate.Certificate `json:"certificate,omitempty"`
}

// AfterScheduling is the estimated price of a plan whose pods kube-scheduler binds wherever it likes: the
// nodes of the plan, and the nodes launched later for pods that are left over. It is the
// result of a model of kube-scheduler and no proof.
type AfterScheduling struct {
	// ExpectedPerHour is the mean expected price ([Policy.ExpectedPrice]) of several orders in which nodes may join and
	// kube-scheduler may take the pods once all are there, in USD per hour.
	ExpectedPerHour offerings.Price `json:"expectedPerHour"`
	// WorstPerHour is the highest price of these and of nodes that come in six batches.
	WorstPerHour offerings.Price `json:"worstPerHour"`
	// PodsElsewhere is how many pods may be bound to other nodes than planned, once all nodes
	// are there; pods that nothing tells apart stand for each other.
	PodsElsewhere int `json:"podsElsewhere"`
	// Pending are pods, by name, that may stay pending whatever is launched, because kube-scheduler
	// may bind other pods so that no node helps them: e.g. a pod that must be in the zone of its
	// volume and with another pod, which may be bound in another zone. The first of equal pods
	// stands for all.
	Pending []string `json:"pending,omitempty"`
}

// Share is a part of the plan's nodes and price.
type Share struct {
	// Name is that of the pool or the capacity type.
	Name string `json:"name"`
	// Nodes is the number of launches of the share, PricePerHour their price.
	Nodes        int             `json:"nodes"`
	PricePerHour offerings.Price `json:"pricePerHour"`
}

// ResourceUse says how one resource of the launched nodes is used. Units are base
// units, CPU in millicores.
type ResourceUse struct {
	Resource string `json:"resource"`
	Capacity int64  `json:"capacity"` // of all launches, as the catalog states it
	Reserved int64  `json:"reserved"` // capacity − allocatable: kubelet, system, eviction threshold
	Daemons  int64  `json:"daemons"`  // requests of daemons
	Pods     int64  `json:"pods"`     // requests of the plan's pods
	Free     int64  `json:"free"`     // capacity that is left
}
