package disruption

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Cluster is what runs, who waits, and what may be bought. Plans read it and change none
// of it.
type Cluster struct {
	// Problem holds nodes, the pods that run on them, pods that wait, NodePools and the
	// catalog. Pods that wait take part in every simulation, and may stay without a
	// place: a step is only bound to find places for the pods that it evicts.
	scheduling.Problem
	// Machines tell of nodes what their objects do not show. Of a node that is not here
	// only its object is known.
	Machines []Machine
	// PodDisruptionBudgets bound how many pods may be away at once. How many that is now
	// is taken from the status if its controller has seen the object, and is counted from
	// the pods otherwise.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
	// Alternative are NodePools to compare with: [Summary.Alternative] says what the same pods
	// would cost if machines were bought from these. They have names of NodePools, whose
	// catalogs they buy from. None is no comparison.
	Alternative []*scheduling.NodePool
}

// Machine is what a NodeClaim, or whatever else stands for a bought machine, tells of a
// node. The zero value of each field means that nothing is known of it.
type Machine struct {
	// Node is the node's name.
	Node string
	// Annotations are those of the NodeClaim. The hashes of the NodePool that they hold
	// tell whether the pool's template has changed since.
	Annotations map[string]string
	// Created is when the machine was asked for; without it the node's creation counts.
	Created time.Time
	// Initialized is when the node became ready for the first time; without it Created
	// counts, for nodes that are initialized by their label.
	Initialized time.Time
	// LastPodEvent is when a pod last came or went, daemons aside; without it
	// Initialized counts.
	LastPodEvent time.Time
	// ExpireAfter is the longest life of the machine; nil is what its pool says.
	ExpireAfter *scheduling.NillableDuration
	// TerminationGracePeriod bounds how long draining may take; nil is what its pool says.
	TerminationGracePeriod *metav1.Duration
	// Drift says in the provider's or controller's words why the machine is no longer
	// what its pool asks for; "" if it is. DriftedAt is since when.
	Drift     string
	DriftedAt time.Time
	// Interruption is notice that the machine will be taken away; nil is none.
	Interruption *Interruption
	// NominatedUntil is until when pods that were planned onto the node are waited for.
	NominatedUntil time.Time
	// Terminating says that the instance is being shut down, whatever the node says.
	Terminating bool
}

// Interruption is notice that a machine will be taken away.
type Interruption struct {
	// At is when; zero is at once.
	At time.Time
	// Kind is the provider's word for it, such as "spot" or "maintenance".
	Kind string
}
