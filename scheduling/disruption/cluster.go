package disruption

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Cluster is the input of a plan: nodes, pods, NodePools and a catalog, with the facts about nodes and budgets
// that disruption needs. Plans read it and change none of it.
type Cluster struct {
	// Problem holds nodes, their pods, pending pods, NodePools and the catalog. Pending pods take part in every
	// simulation, and may stay without a node: a step must only find nodes for the pods that it evicts.
	scheduling.Problem
	// Machines are facts about nodes that are not in the node objects. A node without one is known by its object
	// alone.
	Machines []Machine
	// PodDisruptionBudgets bound how many pods may be away at once. The number is read from the status if the
	// budget's controller has seen the current object, and is counted from the pods otherwise.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
	// Underway are steps of earlier plans that have begun and are not done, with launches named as the nodes that
	// they have become. Their remaining evictions and removals count as done wherever that leaves less for further
	// steps: see [Cluster.Current].
	Underway []Step
	// Alternative are NodePools to compare with: [ConsolidationSummary.Alternative] is the price of the same pods on nodes of
	// these pools alone. They are named as pools of the problem, whose catalogs they use. None means no comparison.
	Alternative []*scheduling.NodePool
}

// Current is the cluster as planners of pending pods must see it while steps are under way: nodes that these steps
// drain have the taint [scheduling.DisruptedTaint], so that they count as being removed for budgets and take in no
// pods, but are not deleted, so that they count for the limits of their pools until they are gone; and pods that are
// still to be evicted are nominated to the node where they are expected, if it is in the input, so that their room is
// reserved. [Planner] does this by itself. PodDisruptionBudgets are returned unchanged: a plan subtracts from them
// the pods that one wave of a step under way may still evict.
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

// drainedNode is a node that a step under way drains: marked as being removed, but not deleted.
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

// ahead reports whether the pod is still to be evicted. It may be nil, for a pod that is gone.
func (e *Eviction) ahead(pod *corev1.Pod) bool {
	return pod != nil && pod.Spec.NodeName == e.From && !lifecycle.Ended(pod)
}

// Machine is what a NodeClaim, or another record of a launched node, knows about a node. The zero value of each
// field means unknown.
type Machine struct {
	// Node is the node's name.
	Node string
	// Annotations are those of the NodeClaim. By the hashes of the NodePool in them drift of the pool's template is
	// found.
	Annotations map[string]string
	// Created is when the node was requested; without it the node's creation counts.
	Created time.Time
	// Initialized is when the node became ready for the first time; without it Created counts, for nodes with the
	// label karpenter.sh/initialized.
	Initialized time.Time
	// LastPodEvent is when a pod other than a DaemonSet's was last bound to the node or left it; without it
	// Initialized counts.
	LastPodEvent time.Time
	// ExpireAfter is the longest life of the node; nil takes it from its pool.
	ExpireAfter *scheduling.NillableDuration
	// TerminationGracePeriod bounds how long draining may take; nil takes it from its pool.
	TerminationGracePeriod *metav1.Duration
	// Drift is the reason of a Drifted condition, in the provider's or controller's words; "" without one. DriftedAt
	// is since when.
	Drift     string
	DriftedAt time.Time
	// Interruption is a notice that the provider will interrupt the node; nil is none.
	Interruption *Interruption
	// NominatedUntil is until when pods that are nominated to the node are waited for.
	NominatedUntil time.Time
	// MustStay is why the node must not be removed except for interruption and expiry, e.g. the minimum size of its
	// node group; "" if it may be. See [Cluster.KeepAtLeast].
	MustStay string
	// MinimumFixed says that the cause in MustStay cannot be changed, e.g. because a cloud demands a node in its
	// system pools; [Planner.Blocked] leaves such nodes out.
	MinimumFixed bool
	// Terminating says that the instance is being shut down, even if the node object does not show it.
	Terminating bool
}

// Interruption is a notice that the provider will interrupt a node.
type Interruption struct {
	// At is when; zero is at once.
	At time.Time
	// Kind is the provider's word for it, e.g. "spot" or "maintenance".
	Kind string
}

// Planner decides which nodes to disrupt. The zero value works: it plans for the Now of the cluster's problem.
type Planner struct {
	// Now is the time of the decision; zero is Problem.Now of the cluster. One of the two is required, because
	// budgets, expiry and consolidateAfter depend on it.
	Now time.Time
	// Policy is how nodes are chosen for evicted pods, and the effort of the search.
	Policy scheduling.Policy
	// Reasons are those for which nodes may be disrupted; none means all but Misplaced.
	Reasons []Reason
	// MinSaving is the least saving of a step for Underutilized.
	MinSaving Saving
	// BalancedK sets the least score of moves in pools with policy Balanced, 1/k; 0 is 2.
	BalancedK float64
	// SpotToSpotTypes is how many cheaper instance types the spot replacement of a spot node must have among its
	// options, if the step does not lower the number of nodes; 0 is 15. Below 0 spot is never replaced by spot.
	SpotToSpotTypes int
	// MinLifetime is the least age of a node that is disrupted for Empty or Underutilized.
	MinLifetime time.Duration
	// PodCost returns the disruption cost of evicting a pod; nil is [PodDisruptionCost]. It must depend on the pod
	// alone. NaN and values below 0 count as 0.
	PodCost func(*corev1.Pod) float64
	// NodeCost is the disruption cost of removing a node, without its pods; 0 is 1.
	NodeCost float64
	// MaxSteps ends the plan after so many steps; 0 is no bound. They are the first steps of the plan without a
	// bound.
	MaxSteps int
	// LiveCatalog says that the catalog lists everything that the provider sells now, so that a node has drifted
	// (InstanceTypeNotFound) if its type or offering has been missing for an hour. Without it a missing type means
	// nothing, because a catalog from a file may be incomplete.
	LiveCatalog bool
	// KeepBarePods leaves pods without a controller on their nodes, and these nodes in the cluster, except for
	// interruption and expiry. Karpenter evicts them.
	KeepBarePods bool
	// Observer is told the progress of a plan; nil for none.
	Observer scheduling.Observer
	// Rebalance also moves pods that break a scheduling rule on their node to existing nodes where they keep it
	// (Misplaced).
	Rebalance bool
}

// Saving is a least saving: all of its fields have to be reached. The zero value is any saving above 0.
type Saving struct {
	// PerHour and PerMonth (730 hours) are in USD.
	PerHour  offerings.Price
	PerMonth offerings.Price
	// Share is a share of the price of the drained nodes, 0 to 1.
	Share float64
}

// terminating are the nodes whose instances are being shut down.
func (c *Cluster) terminating() map[string]bool {
	out := map[string]bool{}
	for i := range c.Machines {
		if m := &c.Machines[i]; m.Terminating {
			out[m.Node] = true
		}
	}
	return out
}

// interrupted are the nodes with an interruption notice, which take in no pods.
func (c *Cluster) interrupted() (nodes []string) {
	for i := range c.Machines {
		if m := &c.Machines[i]; m.Interruption != nil {
			nodes = append(nodes, m.Node)
		}
	}
	return nodes
}
