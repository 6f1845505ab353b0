package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// LaunchExplanation says why a launch buys what it buys.
type LaunchExplanation struct {
	// Launch is the launch's name, NodePool the pool that pays.
	Launch   string `json:"launch"`
	NodePool string `json:"nodePool"`
	// Option is what it buys; Options is how many offerings of its type and of others
	// the plan lists for it, that one included.
	Option  Option `json:"option"`
	Options int    `json:"options"`
	// Rooms say how full the machine is, the fullest resource first.
	Rooms []Room `json:"rooms"`
	// Pods are on it, those first that take most of the fullest resource.
	Pods []PodShare `json:"pods"`
	// Unforced are those of them, as namespace/name and sorted, that kube-scheduler binds to another
	// place or to none in some simulation; [RealisedPod] says more of each.
	Unforced []string `json:"unforced,omitempty"`
	// RunnersUp are the cheapest other types that would hold the same pods, each at its
	// cheapest offering; Others is how many such types there are.
	RunnersUp []Option `json:"runnersUp"`
	Others    int      `json:"others"`
	// Cheaper are cheaper types that would not do, the dearest first, each with what is
	// wrong with its cheapest offering.
	Cheaper []Rejected `json:"cheaper"`
	// RuledOut counts why other offerings of all node pools would not do.
	RuledOut []Reason `json:"ruledOut"`
}

// Room is a resource of a machine, in base units, CPU in millicores.
type Room struct {
	Resource    string `json:"resource"`
	Allocatable int64  `json:"allocatable"`       // for pods and daemons together
	Running     int64  `json:"running,omitempty"` // pods and daemons that run there
	Daemons     int64  `json:"daemons,omitempty"` // daemons that will come
	Planned     int64  `json:"planned"`           // pods of the plan
	Free        int64  `json:"free"`
}

// Share is how much of the resource is taken, from 0 to 1; 1 where there is none.
func (r Room) Share() float64 {
	if r.Allocatable <= 0 {
		return 1
	}
	return float64(r.Allocatable-r.Free) / float64(r.Allocatable)
}

// PodShare is a pod and what it takes of its machine.
type PodShare struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Requests are the pod's effective requests.
	Requests corev1.ResourceList `json:"requests"`
	// Share is the part of the machine's allocatable of its fullest resource, from 0 to 1.
	Share float64 `json:"share"`
}

// Rejected is an option that would not do.
type Rejected struct {
	Option
	// Reason is what is wrong with it.
	Reason Reason `json:"reason"`
}

// PodStatus says what a plan does with a pod.
type PodStatus string

// The statuses of pods.
const (
	PodLaunch        PodStatus = "launch"        // it goes to a machine that is bought
	PodExisting      PodStatus = "existing"      // it goes to a node that is there
	PodUnschedulable PodStatus = "unschedulable" // it has no place
	PodRunning       PodStatus = "running"       // it runs already
	PodIgnored       PodStatus = "ignored"       // it is not to be placed: ended, being deleted, or a daemon
)

// PodExplanation says where a pod goes, what else would do, and what would not.
type PodExplanation struct {
	// Pod is namespace/name.
	Pod    string    `json:"pod"`
	Status PodStatus `json:"status"`
	// Place is the launch or the node that it goes to or runs on; "" where it has none.
	Place string `json:"place,omitempty"`
	// Option is what the launch buys.
	Option *Option `json:"option,omitempty"`
	// Requests are the pod's effective requests, Priority its priority.
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Priority int32               `json:"priority,omitempty"`
	// Ties are its constraints that depend on other pods, and what they count now.
	Ties []TieState `json:"ties,omitempty"`
	// Next are the next best places: nodes and launches that have room for it, then the
	// cheapest machine of its own.
	Next []Place `json:"next,omitempty"`
	// RuledOut counts why the other offerings and nodes do not take it; the most
	// frequent first.
	RuledOut []Reason `json:"ruledOut,omitempty"`
	// Changes would place it, the smallest first; set where it has no place.
	Changes []Change `json:"changes,omitempty"`
	// Realised says where kube-scheduler is expected to bind it; set where the plan has a place for
	// it and the solver leaves placement to kube-scheduler, freely or with nominations, unless too
	// many pods depend on each other.
	Realised *RealisedPod `json:"realised,omitempty"`
}

// RealisedPod says whether kube-scheduler binds a pod where a plan has it, by simulations that
// differ in the order of the pods, and in whether machines come at once or in batches. As
// [Realised] it is the result of a model and no proof.
type RealisedPod struct {
	// Nominated says that it is nominated to its place, in the problem or as [PlacementNominated]
	// has it.
	Nominated bool `json:"nominated,omitempty"`
	// Simulations is how many there were; 0 where the problem has it nominated and nothing keeps it
	// from its place.
	Simulations int `json:"simulations"`
	// Elsewhere is in how many of them it is bound to another place, and Pending in how many to
	// none, without a pod that nothing tells apart from it being bound to its place instead.
	Elsewhere int `json:"elsewhere"`
	Pending   int `json:"pending"`
	// Others are other places to which kube-scheduler's filters admit it when it comes, a few of
	// them, those first to which it is bound most often. There are none where its place is forced.
	Others []OtherPlace `json:"others,omitempty"`
	// Displaced are pods, as namespace/name and a few of them, that are bound to no place in some
	// simulation and would be to that where it is then.
	Displaced []string `json:"displaced,omitempty"`
	// Force are changes with each of which it is bound to its place in every simulation, as was
	// tried, the cheapest first; there are none where none is needed.
	Force []Change `json:"force,omitempty"`
}

// OtherPlace is a node or a launch that may get a pod which is planned for another.
type OtherPlace struct {
	// Node or Launch is its name.
	Node   string `json:"node,omitempty"`
	Launch string `json:"launch,omitempty"`
	// Simulations is in how many of them the pod is bound to it.
	Simulations int `json:"simulations"`
}

// TieState is a constraint of a pod on where others are.
type TieState struct {
	// Code is the reason code of what it breaks: topology-spread, pod-affinity or
	// pod-anti-affinity.
	Code ReasonCode `json:"code"`
	// Key is the topology key, Matching the selector of the pods that it is about.
	Key      string `json:"key"`
	Matching string `json:"matching"`
	// Text says it for people.
	Text string `json:"text"`
	// Domains are the values of the key that count, and how many such pods they have
	// once the plan is carried out; none where every node is a domain of its own.
	Domains []DomainCount `json:"domains,omitempty"`
}

// DomainCount is how many pods a domain has.
type DomainCount struct {
	// Value is that of the topology key, such as the name of a zone.
	Value string `json:"value"`
	// Pods is how many of those that the tie is about are there.
	Pods int64 `json:"pods"`
}

// Place is somewhere a pod could go.
type Place struct {
	// Node or Launch is where there is room; neither is set for a machine of its own.
	Node   string `json:"node,omitempty"`
	Launch string `json:"launch,omitempty"`
	// Option is what would have to be bought; nil where nothing has to be.
	Option *Option `json:"option,omitempty"`
	// NodePool is the pool that would pay for it.
	NodePool string `json:"nodePool,omitempty"`
}

// Price is what the place costs per hour; 0 where nothing has to be bought.
func (p Place) Price() offerings.Price {
	if p.Option == nil {
		return 0
	}
	return p.Option.Price
}

// NodeState says what a node is up to.
type NodeState string

// The states of nodes.
const (
	NodeReady    NodeState = "ready"     // it receives pods
	NodeInFlight NodeState = "in-flight" // of a pool, and not initialized yet
	NodeGoing    NodeState = "going"     // being removed; it receives no pods
)

// NodeExplanation says what is planned onto a node that is there, and what is free.
type NodeExplanation struct {
	// Node is the node's name, State what it is up to.
	Node  string    `json:"node"`
	State NodeState `json:"state"`
	// NodePool, InstanceType, Zone and CapacityType are those of its labels.
	NodePool     string `json:"nodePool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// Taints are those that count for pods planned onto it.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Rooms say how full it is, the fullest resource first.
	Rooms []Room `json:"rooms"`
	// Planned are the pods that it receives, Running those that are there.
	Planned []PodShare `json:"planned"`
	Running []PodShare `json:"running"`
	// Unforced are those of the planned ones that may be bound elsewhere, as for a launch.
	Unforced []string `json:"unforced,omitempty"`
	// Refused are the pods that have no place, and why this node does not take them.
	Refused []Refusal `json:"refused,omitempty"`
}

// Refusal is why one place does not take some pods.
type Refusal struct {
	// Pods are as namespace/name, sorted.
	Pods   []string `json:"pods"`
	Reason Reason   `json:"reason"`
}

// UnknownNameError says that a plan and its problem have nothing of a name, or more
// than one thing.
type UnknownNameError struct {
	// Kind is "pod", "node" or "launch", Name what was asked for.
	Kind, Name string
	// Near are names that look like it, or those that it may mean; at most five.
	Near []string
	// Ambiguous says that the name fits all of Near.
	Ambiguous bool
}

// Error says what is unknown, and what may have been meant.
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
