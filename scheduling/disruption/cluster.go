package disruption

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
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
	// Underway are steps of earlier plans that have begun and are not done, their launches
	// called as the nodes that they have become. What they have still to do counts as done where
	// that leaves less for others: see [Cluster.Current].
	Underway []Step
	// Alternative are NodePools to compare with: [Summary.Alternative] says what the same pods
	// would cost if machines were bought from these. They have names of NodePools, whose
	// catalogs they buy from. None is no comparison.
	Alternative []*scheduling.NodePool
}

// Current is the cluster as others have to see it while the steps under way go on: nodes that
// these drain are going (they have the taint [scheduling.DisruptedTaint]), so that they count for
// budgets and take nobody in, but are not deleted, so that they count for limits of their pools until
// they are gone; and pods that are still to be evicted are nominated to where they
// are expected, if that is among the nodes, and so have their room there. Planner does this by
// itself; its Problem is for those who plan for pending pods meanwhile. PodDisruptionBudgets are
// as they were: a plan lets so many fewer of their pods be away as one wave of a step under way
// may still evict.
func (c Cluster) Current() Cluster {
	if len(c.Underway) == 0 {
		return c
	}
	drained := map[string]bool{}
	for i := range c.Underway {
		for _, name := range c.Underway[i].Drain {
			drained[name] = true
		}
	}
	stays := map[string]bool{}
	c.Nodes = slices.Clone(c.Nodes)
	for i, node := range c.Nodes {
		switch {
		case node == nil:
		case !drained[node.Name]:
			stays[node.Name] = true
		default:
			c.Nodes[i] = drainedNode(node)
		}
	}
	pods := map[string]*corev1.Pod{}
	for _, pod := range slices.Concat(c.Running, c.Pods) {
		if pod != nil {
			pods[podspec.PodName(pod)] = pod
		}
	}
	c.Nominated = maps.Clone(c.Nominated)
	if c.Nominated == nil {
		c.Nominated = map[types.NamespacedName]string{}
	}
	for i := range c.Underway {
		for _, e := range c.Underway[i].Evictions {
			if e.ahead(pods[e.Pod]) && stays[e.To] {
				c.Nominated[podspec.PodKey(pods[e.Pod])] = e.To
			}
		}
	}
	return c
}

// drainedNode is the node as one that a step under way drains: marked to be removed, but not being deleted.
func drainedNode(node *corev1.Node) *corev1.Node {
	if podspec.Going(node) && podspec.TakesOfLimits(node) {
		return node
	}
	going := *node
	going.DeletionTimestamp = nil
	if !podspec.Going(&going) {
		going.Spec.Taints = append(slices.Clip(node.Spec.Taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
	}
	return &going
}

// ahead reports whether the pod, which may be gone, is still to be evicted.
func (e *Eviction) ahead(pod *corev1.Pod) bool {
	return pod != nil && pod.Spec.NodeName == e.From && !podspec.Terminal(pod)
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
	// MustStay says why the node must not be removed for anything but interruption and expiry, e.g.
	// because a group of nodes keeps its least size; "" if it may be. See [Cluster.KeepAtLeast].
	MustStay string
	// MinimumFixed says that nobody can change what MustStay speaks of, e.g. because a cloud demands a node of
	// its system pools; [Planner.Blocked] leaves such nodes out.
	MinimumFixed bool
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

// Planner decides what to disrupt. The zero value works: it plans for the cluster's
// Problem.Now.
type Planner struct {
	// Now is the time of the decision; zero is Problem.Now of the cluster. One of the two is
	// needed: budgets, expiry and consolidateAfter depend on it.
	Now time.Time
	// Solver holds the settings under which places and replacements are looked for, and the
	// effort of the search.
	Policy scheduling.Policy
	// Reasons are those for which nodes may be disrupted; none means all but Misplaced.
	Reasons []Reason
	// MinSaving is what a step for Underutilized has to save.
	MinSaving Saving
	// BalancedK sets the threshold of pools with policy Balanced, 1/k; 0 is 2.
	BalancedK float64
	// SpotToSpotTypes is how many cheaper instance types a spot machine's replacement by
	// spot needs to be able to choose from, in a step by which nodes do not become fewer; 0 is
	// 15. Below 0 spot is never replaced by spot.
	SpotToSpotTypes int
	// MinLifetime is how long a node has to be there before it is disrupted for Empty or
	// Underutilized.
	MinLifetime time.Duration
	// PodCost says what it costs to evict a pod; nil is [PodDisruptionCost]. It must depend on
	// the pod alone. What is not a number or below 0 counts 0.
	PodCost func(*corev1.Pod) float64
	// NodeCost is what it costs to remove a node, pods aside; 0 is 1.
	NodeCost float64
	// MaxSteps ends the plan after so many steps; 0 is no bound. The steps are the first ones
	// of the plan without a bound.
	MaxSteps int
	// LiveCatalog says that the catalog lists all that the provider sells now, so that a node
	// has drifted (InstanceTypeNotFound) whose type or offering it has lacked for an hour.
	// Other catalogs, such as files, may lack what is sold, and say nothing about nodes.
	LiveCatalog bool
	// KeepBarePods leaves pods where they are that no controller would make again, and the nodes
	// that hold them, unless the machine is taken away or has expired. Karpenter evicts them.
	KeepBarePods bool
	// Observer is told how a plan goes; nil for nobody.
	Observer scheduling.Observer
	// Rebalance also looks for pods that break a rule where they are, and moves them where
	// they keep it (Misplaced).
	Rebalance bool
}

// Saving is how much has to be saved; all of it, the zero value is any price above nothing.
type Saving struct {
	// PerHour and PerMonth (730 hours) are in USD.
	PerHour  offerings.Price
	PerMonth offerings.Price
	// Share is that of what the drained nodes cost, 0 to 1.
	Share float64
}
