package explanation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// LaunchExplanation gives the reasons for the choice of a launch.
type LaunchExplanation struct {
	// Launch is the launch's name, NodePool the pool that pays.
	Launch   string `json:"launch"`
	NodePool string `json:"nodePool"`
	// Option is the first option of the launch; Options is the number of offerings that the plan
	// lists for it, this one included.
	Option  scheduling.LaunchOption `json:"option"`
	Options int                     `json:"options"`
	// Rooms say how full the node is, the fullest resource first.
	Rooms []Room `json:"rooms"`
	// Pods are the pods on it, the largest share of the fullest resource first.
	Pods []PodShare `json:"pods"`
	// Unforced are the pods, as namespace/name and sorted, that kube-scheduler binds to another
	// node or to none in one or more simulations; see [PodAfterScheduling].
	Unforced []string `json:"unforced,omitempty"`
	// RunnersUp are the cheapest other types that hold the same pods, each at its cheapest
	// offering; Others is the number of all these types.
	RunnersUp []scheduling.LaunchOption `json:"runnersUp"`
	Others    int                       `json:"others"`
	// Cheaper are cheaper types that cannot hold the pods, the most expensive first, each with the
	// reason at its cheapest offering.
	Cheaper []RejectedOption `json:"cheaper"`
	// RuledOut counts the reasons against the other offerings of all node pools.
	RuledOut []scheduling.ReasonCount `json:"ruledOut"`
}

// Room is a resource of a node, in base units, CPU in millicores.
type Room struct {
	Resource    string `json:"resource"`
	Allocatable int64  `json:"allocatable"`       // for pods and daemons together
	Running     int64  `json:"running,omitempty"` // pods and daemons that run there
	Daemons     int64  `json:"daemons,omitempty"` // daemons that will come
	Planned     int64  `json:"planned"`           // pods of the plan
	Free        int64  `json:"free"`
}

// Share is the share of the resource that is in use, from 0 to 1; 1 where there is none.
func (r Room) Share() float64 {
	if r.Allocatable <= 0 {
		return 1
	}
	return float64(r.Allocatable-r.Free) / float64(r.Allocatable)
}

// PodShare is a pod with its requests and its share of a node.
type PodShare struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Requests are the pod's effective requests.
	Requests corev1.ResourceList `json:"requests"`
	// Share is the part of the node's allocatable of its fullest resource, from 0 to 1.
	Share float64 `json:"share"`
}

// RejectedOption is an option that cannot be used.
type RejectedOption struct {
	scheduling.LaunchOption
	// Reason is the constraint that rules it out.
	Reason scheduling.ReasonCount `json:"reason"`
}

// PodStatus is the role of a pod in a plan.
type PodStatus string

// The statuses of pods.
const (
	PodLaunch        PodStatus = "launch"        // it is planned on a launched node
	PodExisting      PodStatus = "existing"      // it is planned on an existing node
	PodUnschedulable PodStatus = "unschedulable" // it has no place
	PodRunning       PodStatus = "running"       // it runs already
	PodIgnored       PodStatus = "ignored"       // it is not to be placed: ended, being deleted, or a daemon
)

// PodExplanation gives the place of a pod, the next best places, and the reasons against all
// others.
type PodExplanation struct {
	// Pod is namespace/name.
	Pod    string    `json:"pod"`
	Status PodStatus `json:"status"`
	// Place is the launch or the node of the pod; "" where it has none.
	Place string `json:"place,omitempty"`
	// Option is the first option of the launch.
	Option *scheduling.LaunchOption `json:"option,omitempty"`
	// Requests are the pod's effective requests, Priority its priority.
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Priority int32               `json:"priority,omitempty"`
	// TopologyTerms are its constraints on other pods (spread, affinity, anti-affinity), with the pods that
	// they count now.
	TopologyTerms []TopologyTerm `json:"topologyTerms,omitempty"`
	// Next are the next best places: nodes and launches that have room for it, then the
	// cheapest new node.
	Next []Place `json:"next,omitempty"`
	// RuledOut counts the reasons against the other offerings and nodes; the most frequent first.
	RuledOut []scheduling.ReasonCount `json:"ruledOut,omitempty"`
	// Changes are alternatives of which each would place it, the smallest first; empty where it has
	// a place.
	Changes []scheduling.Change `json:"changes,omitempty"`
	// AfterScheduling tells where kube-scheduler is expected to bind it. It is nil where the plan has no
	// place for the pod, where the policy pins pods, or where too many pods depend on each other.
	AfterScheduling *PodAfterScheduling `json:"afterScheduling,omitempty"`
}

// PodAfterScheduling tells whether kube-scheduler binds a pod to its planned place, by simulations that
// differ in the order of the pods, and in whether nodes join at once or in batches. Like [scheduling.AfterScheduling]
// it is the result of a model and no proof.
type PodAfterScheduling struct {
	// Nominated says that the pod is nominated to its place, in the problem or by
	// [scheduling.PlacementNominated].
	Nominated bool `json:"nominated,omitempty"`
	// Simulations is their number; 0 where the problem nominates the pod to its place and no other
	// pod takes it.
	Simulations int `json:"simulations"`
	// Planned is the number of simulations that bind it to its place, and Replaced of those that bind
	// an equal pod there instead, so that the plan holds.
	Planned  int `json:"planned"`
	Replaced int `json:"replaced"`
	// Elsewhere is the number of the other simulations that bind it to another place, and Pending of
	// those that bind it to none. With Planned and Replaced they add up to Simulations.
	Elsewhere int `json:"elsewhere"`
	Pending   int `json:"pending"`
	// Others are all other places that a simulation binds it to, the most frequent first, then a few
	// that kube-scheduler's filters admit too. They are empty where its place is forced.
	Others []OtherPlace `json:"others,omitempty"`
	// Displaced are pods, as namespace/name and a few of them, that stay pending in one or more
	// simulations because this pod is in the place that they would get.
	Displaced []string `json:"displaced,omitempty"`
	// Force are changes of which each binds it to its place in every simulation, the cheapest
	// first. Each was tried; they are empty where none is needed.
	Force []scheduling.Change `json:"force,omitempty"`
}

// OtherPlace is a node or a launch to which kube-scheduler may bind a pod that is planned for
// another one.
type OtherPlace struct {
	// Node or Launch is its name.
	Node   string `json:"node,omitempty"`
	Launch string `json:"launch,omitempty"`
	// Simulations is the number of simulations that bind the pod to it.
	Simulations int `json:"simulations"`
}

// TopologyTerm is a constraint of a pod on the places of other pods.
type TopologyTerm struct {
	// Code is the reason code of a violation: topology-spread, pod-affinity or pod-anti-affinity.
	Code scheduling.ReasonCode `json:"code"`
	// Key is the topology key, Matching the selector of the counted pods.
	Key      string `json:"key"`
	Matching string `json:"matching"`
	// Text states it for people.
	Text string `json:"text"`
	// Domains are the values of the key that count, with the number of counted pods once the plan
	// is carried out; empty where every node is a domain of its own.
	Domains []DomainCount `json:"domains,omitempty"`
}

// DomainCount is the number of pods in a domain.
type DomainCount struct {
	// Value is the value of the topology key, e.g. the name of a zone.
	Value string `json:"value"`
	// Pods is the number of pods there that the constraint counts.
	Pods int64 `json:"pods"`
}

// Place is a possible place of a pod: a node, a launch, or a new node.
type Place struct {
	// Node or Launch is the name of the place; neither is set for a new node.
	Node   string `json:"node,omitempty"`
	Launch string `json:"launch,omitempty"`
	// Option is the offering that would be launched; nil on a node or a launch of the plan.
	Option *scheduling.LaunchOption `json:"option,omitempty"`
	// NodePool is the pool that would pay for it.
	NodePool string `json:"nodePool,omitempty"`
}

// Price is the price of the place per hour; 0 where no node is launched.
func (p Place) Price() offerings.Price {
	if p.Option == nil {
		return 0
	}
	return p.Option.Price
}

// NodeState is the part of its life in which a node is.
type NodeState string

// The states of nodes.
const (
	NodeReady        NodeState = "ready"         // it receives pods
	NodeInFlight     NodeState = "in-flight"     // of a pool, and not initialized yet
	NodeBeingRemoved NodeState = "being-removed" // being removed; it receives no pods
)

// NodeExplanation lists the pods planned onto an existing node, and its free resources.
type NodeExplanation struct {
	// Node is the node's name, State its part of life.
	Node  string    `json:"node"`
	State NodeState `json:"state"`
	// NodePool, InstanceType, Zone and CapacityType are the values of its labels.
	NodePool     string `json:"nodePool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// Taints are the ones that pods planned onto it must tolerate.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Rooms are its resources, the fullest resource first.
	Rooms []Room `json:"rooms"`
	// Planned are the pods that it receives, Running the pods on it.
	Planned []PodShare `json:"planned"`
	Running []PodShare `json:"running"`
	// Unforced are planned pods that may be bound elsewhere, as in [LaunchExplanation].
	Unforced []string `json:"unforced,omitempty"`
	// Refused are the pods without a place, with the reason against this node.
	Refused []Refusal `json:"refused,omitempty"`
}

// Refusal is the reason for which one place does not admit a set of pods.
type Refusal struct {
	// Pods are as namespace/name, sorted.
	Pods   []string               `json:"pods"`
	Reason scheduling.ReasonCount `json:"reason"`
}

// UnknownNameError says that a plan and its problem have no object of a name, or more than one.
type UnknownNameError struct {
	// Kind is "pod", "node" or "launch", Name the name that was asked for.
	Kind, Name string
	// Near are similar names, or the names that it may stand for; at most five.
	Near []string
	// Ambiguous says that the name fits all of Near.
	Ambiguous bool
}

// Error names the unknown object, and similar names.
func (e *UnknownNameError) Error() string {
	switch {
	case e.Ambiguous:
		return fmt.Sprintf("%s %q is not the only one of that name: say which of %s", e.Kind, e.Name, strings.Join(e.Near, ", "))
	case len(e.Near) > 0:
		return fmt.Sprintf("there is no %s %q; did you mean %s?", e.Kind, e.Name, strings.Join(e.Near, ", "))
	default:
		return fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	}
}
