package disruption

import (
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Reason says why nodes are disrupted; the set is closed, and the names are stable.
type Reason string

// The reasons, in the order in which they come first.
const (
	Interrupted   Reason = "interrupted"   // the provider interrupts the node
	Expired       Reason = "expired"       // it is older than its pool allows
	Drifted       Reason = "drifted"       // the node differs from what its pool asks for
	Empty         Reason = "empty"         // no pods but DaemonSets' are on it
	Underutilized Reason = "underutilized" // its pods cost less elsewhere
	Misplaced     Reason = "misplaced"     // pods on it break a scheduling rule that they would keep elsewhere; see Planner.Rebalance
)

// Step is one safe change: launch, wait until the launches are ready, evict, and remove the nodes.
type Step struct {
	// Reason is why its nodes are removed or, for Misplaced, why its pods move.
	Reason Reason `json:"reason"`
	// Drain are the nodes to empty and remove, by name. It is empty for Misplaced, where pods move and no node is
	// removed.
	Drain []string `json:"drain"` // a step empties and removes the node
	// Launches are nodes to wait for before anything is evicted. Their names are unique in the plan and no node
	// has them. Their pods are among those of the evictions. Until the drained nodes are removed a NodePool may
	// exceed its limits by their capacity, as with Karpenter.
	Launches []scheduling.Launch `json:"launches"`
	// Evictions are the pods of the drained nodes that need another node, each with the node where it is expected, in
	// the order in which they are evicted.
	Evictions []Eviction `json:"evictions"`
	// SavingPerHour is by how much the step lowers the cluster's price, in USD per hour of expected prices
	// ([scheduling.Policy.ExpectedPrice]); below 0 for a forced step (Interrupted, Expired, Drifted) that raises it.
	SavingPerHour offerings.Price `json:"savingPerHour"`
	// DisruptionCost is the cost of the evictions and removals, in a unit in which a pod of default priority counts
	// 1, and so does a node ([PodDisruptionCost], [Planner.NodeCost]).
	DisruptionCost float64 `json:"disruptionCost"`
	// Score is, for nodes of Balanced pools, the smallest of the pools' scores; otherwise the share of the cluster's
	// price that is saved over the share of its disruption cost that is spent. 0 if the step saves nothing.
	Score float64 `json:"score"`
	// NodePools and PodDisruptionBudgets are how much the step uses of the budgets.
	NodePools            []PoolUse   `json:"nodePools,omitempty"`
	PodDisruptionBudgets []BudgetUse `json:"podDisruptionBudgets,omitempty"`
	// Risks are for a person to consider before the step is carried out, by code and object.
	Risks []Risk `json:"risks,omitempty"`
}

// Eviction is a pod that leaves its node.
type Eviction struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// From is the node that it leaves, To the node or launch where it is expected; "" if it finds none (Interrupted
	// only).
	From string `json:"from"`
	To   string `json:"to"`
	// Wave counts from 1 within the step: pods of one wave may be away at the same time; those of the next wave leave
	// when they run again.
	Wave int `json:"wave"`
	// Virtual says that the pod is virtual ([scheduling.IsVirtual]): there is nothing to evict, and the room that it keeps
	// free is on To from now on. From need not be drained, because evicted pods may be bound to the room.
	Virtual bool `json:"virtual,omitempty"`
}

// PoolUse is how many nodes of a pool a step removes, and how many the pool's budgets allow for its reason.
type PoolUse struct {
	// NodePool is the pool's name, Nodes the number of its nodes that are removed, Allowed the most that may be.
	NodePool string `json:"nodePool"`
	Nodes    int    `json:"nodes"`
	Allowed  int    `json:"allowed"`
}

// BudgetUse is how many pods of a PodDisruptionBudget are away at the same time at most, and how many may be.
type BudgetUse struct {
	// Budget is namespace/name.
	Budget  string `json:"budget"`
	Pods    int    `json:"pods"`
	Allowed int    `json:"allowed"`
}

// Decision is whether a node stays or is removed.
type Decision string

// The decisions.
const (
	Keep  Decision = "keep"  // the node stays
	Drain Decision = "drain" // a step empties and removes it
)

// Verdict is the decision about a node, with the causes if it stays.
type Verdict struct {
	// Node is the node's name.
	Node string `json:"node"`
	// Decision is whether it stays or is removed.
	Decision Decision `json:"decision"`
	// Step is the place of the step that drains it, counted from 1; 0 if it stays.
	Step int `json:"step,omitempty"`
	// NodePool, InstanceType, Zone and CapacityType are those of its labels.
	NodePool     string `json:"nodePool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// PricePerHour is the price of its instance, in USD per hour; 0 if it is not known.
	PricePerHour offerings.Price `json:"pricePerHour"`
	// Drift is the kind of drift, as Karpenter or the provider names it, and the difference between node and pool; ""
	// if the node has not drifted.
	Drift string `json:"drift,omitempty"`
	// Reasons are the causes for which it stays, the most important first; at least one if it stays.
	Reasons []Cause `json:"reasons,omitempty"`
	// Rejected is the best move that was found and not made; nil if none was found.
	Rejected *RejectedMove `json:"rejected,omitempty"`
}

// Cause is one cause for which a node stays.
type Cause struct {
	// Code names the cause, for programs.
	Code CauseCode `json:"code"`
	// Object is the object that has the cause, as kind/name or kind/namespace/name; "" is the node.
	Object string `json:"object,omitempty"`
	// Detail describes it in words.
	Detail string `json:"detail"`
}

// RejectedMove is a move that was found and not made.
type RejectedMove struct {
	// Drain are the nodes that it would remove, the verdict's node among them.
	Drain []string `json:"drain"`
	// Launches are the nodes that it would launch: the first options.
	Launches []scheduling.LaunchOption `json:"launches,omitempty"`
	// PricePerHour is the price of Launches, SavingPerHour by how much the move would lower the cluster's expected
	// price; below 0 if it would raise it. Both are in USD per hour.
	PricePerHour  offerings.Price `json:"pricePerHour"`
	SavingPerHour offerings.Price `json:"savingPerHour"`
	// DisruptionCost and Score are as in Step.
	DisruptionCost float64 `json:"disruptionCost"`
	Score          float64 `json:"score"`
	// Because is the cause for which it was not made.
	Because Cause `json:"because"`
}

// CauseCode names a cause for which a node stays; the set is closed, and the names are stable.
type CauseCode string

// The causes for which a node is no candidate.
const (
	CauseNoNodePool        CauseCode = "no-node-pool"        // no pool owns it, or the pool is missing in the input
	CauseNoTypes           CauseCode = "no-types"            // its pool has no instance types
	CauseNotReady          CauseCode = "not-ready"           // it has not become ready yet
	CauseBeingRemoved      CauseCode = "being-removed"       // it is being removed already
	CauseNominated         CauseCode = "nominated"           // pods are nominated to it
	CauseDoNotDisrupt      CauseCode = "do-not-disrupt"      // the node or a pod on it has an annotation against disruption
	CauseUnmanagedPod      CauseCode = "unmanaged-pod"       // a pod without a controller would not be recreated, see Planner.KeepBarePods
	CauseBudget            CauseCode = "pod-budget"          // a PodDisruptionBudget allows no eviction
	CausePoolBudget        CauseCode = "node-budget"         // the pool's budgets allow no further node
	CausePolicy            CauseCode = "policy"              // consolidationPolicy is WhenEmpty, or consolidateAfter is Never
	CauseTooSoon           CauseCode = "too-soon"            // consolidateAfter or the minimum lifetime has not passed
	CauseStatic            CauseCode = "static"              // the NodePool is static (spec.replicas)
	CauseMinNodes          CauseCode = "min-nodes"           // its pool keeps a minimum of nodes, see Machine.MustStay
	CauseUnknownPrice      CauseCode = "unknown-price"       // type, zone or capacity type are missing on the node or in the catalog
	CauseReasonNotSelected CauseCode = "reason-not-selected" // the reason is not among Planner.Reasons
)

// The causes for which the best move that would remove a node was not made.
const (
	CauseNoPlace       CauseCode = "no-place"        // a pod of the node fits nowhere else
	CauseNoSaving      CauseCode = "no-saving"       // the replacement costs as much, or more
	CauseSmallSaving   CauseCode = "small-saving"    // the saving is below Planner.MinSaving
	CauseScore         CauseCode = "score"           // the saving is too small for the disruption, see Planner.BalancedK
	CauseFewSpotTypes  CauseCode = "few-spot-types"  // too few cheaper types for spot to replace spot
	CauseMinValues     CauseCode = "min-values"      // cheaper types alone do not meet the pool's minValues
	CauseNeededForPods CauseCode = "needed-for-pods" // pods of drained nodes are moved to it
	CauseDeadline      CauseCode = "deadline"        // the deadline passed before it was considered
	CauseStepsLimit    CauseCode = "steps-limit"     // the plan ends before it was considered, see Planner.MaxSteps
)

// CauseSearch is the cause of savings that the search did not find, in the result of [Planner.Blocked].
const CauseSearch CauseCode = "search"

// Risk is a risk of a step that a person should consider before carrying it out.
type Risk struct {
	// Code names the risk, for programs.
	Code RiskCode `json:"code"`
	// Object is the object at risk, as kind/namespace/name: a controller, or a pod that has none.
	Object string `json:"object"`
	// Detail describes it in words.
	Detail string `json:"detail"`
}

// RiskCode names a risk of a step; the set is closed, and the names are stable.
type RiskCode string

// The risks.
const (
	RiskArchitecture  RiskCode = "architecture"   // pods may move to another CPU architecture
	RiskUnmanagedPod  RiskCode = "unmanaged-pod"  // the pod has no controller, and is not recreated
	RiskDoNotDisrupt  RiskCode = "do-not-disrupt" // the pod has an annotation against disruption, and its node is removed all the same
	RiskPodBudget     RiskCode = "pod-budget"     // PodDisruptionBudgets do not allow the eviction, and its node is removed all the same
	RiskReplicas      RiskCode = "replicas"       // several pods of a controller are away at the same time, and no PodDisruptionBudget bounds that
	RiskSingleReplica RiskCode = "single-replica" // the only pod of a controller is evicted, and no PodDisruptionBudget bounds that
	RiskSpot          RiskCode = "spot"           // pods may move from nodes that are not spot to spot nodes
	RiskVolume        RiskCode = "volume"         // a volume is detached, and attached to another node
)

// RiskCodes returns all codes, by name.
func RiskCodes() []RiskCode {
	return []RiskCode{RiskArchitecture, RiskUnmanagedPod, RiskDoNotDisrupt, RiskPodBudget, RiskReplicas, RiskSingleReplica, RiskSpot, RiskVolume}
}

// PodsMoved is the number of pods that the step evicts: its evictions without those of virtual pods.
func (s *Step) PodsMoved() int {
	return lo.CountBy(s.Evictions, func(e Eviction) bool { return !e.Virtual })
}

// forced reports whether the step is made without regard to its saving.
func (s *Step) forced() bool {
	return s.Reason == Interrupted || s.Reason == Expired || s.Reason == Drifted
}

// saves reports whether the step is made for its saving.
func (s *Step) saves() bool { return s.Reason == Empty || s.Reason == Underutilized }

// withCause is a list of causes with one more, unless it has one with that code and object.
func withCause(list []Cause, c Cause) []Cause {
	if slices.ContainsFunc(list, func(o Cause) bool { return o.Code == c.Code && o.Object == c.Object }) {
		return list
	}
	return append(list, c)
}
