package disruption

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Reason says why nodes are disrupted; the set is closed, and the names are stable.
type Reason string

// The reasons, in the order in which they come first.
const (
	Interrupted   Reason = "interrupted"   // the provider takes the machine away
	Expired       Reason = "expired"       // it is older than its pool allows
	Drifted       Reason = "drifted"       // it is no longer what its pool asks for
	Empty         Reason = "empty"         // no pods but daemons are on it
	Underutilized Reason = "underutilized" // its pods cost less elsewhere
	Misplaced     Reason = "misplaced"     // pods on it break a rule that they would keep elsewhere; see Planner.Rebalance
)

// Step is one safe change: launch, wait until the launches are ready, evict, and remove
// the nodes.
type Step struct {
	// Reason is why its nodes go.
	Reason Reason `json:"reason"`
	// Drain are the nodes to empty and remove, by name. It is empty where pods move but
	// no node goes (Misplaced).
	Drain []string `json:"drain"`
	// Launches are machines to wait for before anything is evicted. Their names are unique
	// in the plan and no node's. Their pods are those of the step's evictions. Until the drained
	// nodes are gone a NodePool may be beyond its limits by what these have, as with Karpenter.
	Launches []scheduling.Launch `json:"launches"`
	// Evictions say of each pod of the drained nodes that has to live on where it is expected
	// to land, in the order in which they are evicted.
	Evictions []Eviction `json:"evictions"`
	// SavingPerHour is what the cluster costs less per hour afterwards, by expected prices
	// ([scheduling.Policy.ExpectedPrice]); below 0 where a step that has to be costs something.
	SavingPerHour offerings.Price `json:"savingPerHour"`
	// DisruptionCost is what the evictions and removals cost in the planner's unit: one pod
	// of no special worth counts 1, and so does a node.
	DisruptionCost float64 `json:"disruptionCost"`
	// Score is, for nodes of Balanced pools, the smallest of the pools' scores; else the
	// share of the cluster's price that is saved over the share of its disruption cost that
	// is spent. 0 where nothing is saved.
	Score float64 `json:"score"`
	// NodePools and PodDisruptionBudgets say what the step uses up of what may be
	// disrupted at once.
	NodePools            []PoolUse   `json:"nodePools,omitempty"`
	PodDisruptionBudgets []BudgetUse `json:"podDisruptionBudgets,omitempty"`
	// Risks are what a careful person asks before it is carried out, by code and object.
	Risks []Risk `json:"risks,omitempty"`
}

// Eviction is a pod that moves.
type Eviction struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// From is the node that it leaves, To the node or launch where it is expected to land.
	From string `json:"from"`
	To   string `json:"to"`
	// Wave counts from 1 within the step: pods of one wave may be away at the same time;
	// those of the next one leave when they run again.
	Wave int `json:"wave"`
}

// PoolUse is how many nodes of a pool a step removes, of how many that the pool's budgets
// allow for its reason.
type PoolUse struct {
	// NodePool is the pool's name, Nodes how many go, Allowed how many may.
	NodePool string `json:"nodePool"`
	Nodes    int    `json:"nodes"`
	Allowed  int    `json:"allowed"`
}

// BudgetUse is how many pods of a PodDisruptionBudget are away at most at the same time,
// of how many that may be.
type BudgetUse struct {
	// Budget is namespace/name.
	Budget  string `json:"budget"`
	Pods    int    `json:"pods"`
	Allowed int    `json:"allowed"`
}

// Decision says what becomes of a node.
type Decision string

// The decisions.
const (
	Keep  Decision = "keep"  // it stays
	Drain Decision = "drain" // a step empties and removes it
)

// Verdict says what becomes of a node, and why.
type Verdict struct {
	// Node is the node's name, Decision what becomes of it.
	Node     string   `json:"node"`
	Decision Decision `json:"decision"`
	// Step is the place of the step that drains it, counted from 1; 0 if it stays.
	Step int `json:"step,omitempty"`
	// NodePool, InstanceType, Zone and CapacityType are those of its labels.
	NodePool     string `json:"nodePool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// PricePerHour is what its machine costs; 0 where that is not known.
	PricePerHour offerings.Price `json:"pricePerHour"`
	// Drift says how the node is no longer what its pool asks for: the kind of drift, as
	// Karpenter or the provider names it, and what differs; "" if it is.
	Drift string `json:"drift,omitempty"`
	// Reasons say why it stays, the most telling first; at least one where it stays.
	Reasons []Cause `json:"reasons,omitempty"`
	// Rejected is the best move that was found and not taken; nil where none was found.
	Rejected *Rejected `json:"rejected,omitempty"`
}

// Cause is one reason why a node stays.
type Cause struct {
	// Code names the cause, for programs.
	Code CauseCode `json:"code"`
	// Object is what stands in the way, as kind/name or kind/namespace/name; "" is the node.
	Object string `json:"object,omitempty"`
	// Detail says it for people.
	Detail string `json:"detail"`
}

// Rejected is a move that was not taken.
type Rejected struct {
	// Drain are the nodes that it would remove, the verdict's node among them.
	Drain []string `json:"drain"`
	// Launches are what it would buy: the first options.
	Launches []scheduling.Option `json:"launches,omitempty"`
	// PricePerHour is what Launches cost, SavingPerHour what the cluster would cost less by
	// expected prices; below 0 where it would cost more.
	PricePerHour  offerings.Price `json:"pricePerHour"`
	SavingPerHour offerings.Price `json:"savingPerHour"`
	// DisruptionCost and Score are as in Step.
	DisruptionCost float64 `json:"disruptionCost"`
	Score          float64 `json:"score"`
	// Because says what spoke against it.
	Because Cause `json:"because"`
}

// CauseCode names one cause for which a node stays; the set is closed, and the names are
// stable.
type CauseCode string

// What keeps a node from being a candidate at all.
const (
	CauseNoNodePool     CauseCode = "no-node-pool"     // no pool owns it, or the pool is not there
	CauseNoTypes        CauseCode = "no-types"         // its pool has nothing on sale
	CauseNotReady       CauseCode = "not-ready"        // it has not become ready yet
	CauseGoing          CauseCode = "going"            // it is being removed already
	CauseNominated      CauseCode = "nominated"        // pods are expected there
	CauseDoNotDisrupt   CauseCode = "do-not-disrupt"   // the node, or a pod on it, asks not to be disrupted
	CauseBarePod        CauseCode = "bare-pod"         // a pod without a controller would be gone for good, see Planner.KeepBarePods
	CauseBudget         CauseCode = "pod-budget"       // a PodDisruptionBudget lets no pod go
	CausePoolBudget     CauseCode = "node-budget"      // the pool's budgets let no further node go
	CausePolicy         CauseCode = "policy"           // the pool is only consolidated when nodes are empty, or never
	CauseTooSoon        CauseCode = "too-soon"         // consolidateAfter or the minimum lifetime has not passed
	CauseStatic         CauseCode = "static"           // the pool keeps a fixed number of nodes
	CauseMinNodes       CauseCode = "min-nodes"        // its pool keeps at least so many nodes, see Machine.MustStay
	CauseUnknownPrice   CauseCode = "unknown-price"    // type, zone or capacity type are not known, or not in the catalog
	CauseReasonNotMeant CauseCode = "reason-not-meant" // the planner is not to disrupt nodes for this reason
)

// What speaks against the best move that would drain a node.
const (
	CauseNoPlace     CauseCode = "no-place"     // a pod of the node has nowhere else to go
	CauseNoSaving    CauseCode = "no-saving"    // what would take its place costs as much, or more
	CauseSmallSaving CauseCode = "small-saving" // the saving is below what is asked for
	CauseScore       CauseCode = "score"        // the saving is not worth the disruption
	CauseSpotChoice  CauseCode = "spot-choice"  // too few cheaper types for spot to replace spot
	CauseMinValues   CauseCode = "min-values"   // cheaper types alone do not meet the pool's minValues
	CauseReceives    CauseCode = "receives"     // it takes in pods of nodes that are drained
	CauseDeadline    CauseCode = "deadline"     // the deadline passed before it was looked at
	CauseLater       CauseCode = "later"        // the plan ends before it was looked at, see Planner.MaxSteps
)

// CauseSearch stands in what [Planner.Blocked] returns for all that the search did not find.
const CauseSearch CauseCode = "search"

// Risk is something that a careful person asks about before a step is carried out.
type Risk struct {
	// Code names the risk, for programs.
	Code RiskCode `json:"code"`
	// Object is what it is about, as kind/namespace/name: a controller, or a pod that has none.
	Object string `json:"object"`
	// Detail says it for people.
	Detail string `json:"detail"`
}

// RiskCode names a risk of a step; the set is closed, and the names are stable.
type RiskCode string

// The risks.
const (
	RiskArchitecture  RiskCode = "architecture"   // pods may land on another CPU architecture than they leave
	RiskBarePod       RiskCode = "bare-pod"       // the pod has no controller, and is gone for good
	RiskDoNotDisrupt  RiskCode = "do-not-disrupt" // the pod asks not to be disrupted, and its node goes all the same
	RiskPodBudget     RiskCode = "pod-budget"     // PodDisruptionBudgets let the pod not go, and its node goes all the same
	RiskReplicas      RiskCode = "replicas"       // several pods of a controller are away at the same time, and no PodDisruptionBudget is asked
	RiskSingleReplica RiskCode = "single-replica" // the only pod of a controller leaves, and no PodDisruptionBudget is asked
	RiskSpot          RiskCode = "spot"           // pods leave machines that nobody takes away, and may land on spot machines
	RiskVolume        RiskCode = "volume"         // a volume is detached and attached elsewhere
)

// RiskCodes returns all codes, by name.
func RiskCodes() []RiskCode {
	return []RiskCode{RiskArchitecture, RiskBarePod, RiskDoNotDisrupt, RiskPodBudget, RiskReplicas, RiskSingleReplica, RiskSpot, RiskVolume}
}

// forced reports whether a step has to be, whatever it saves.
func (s *Step) forced() bool {
	return s.Reason == Interrupted || s.Reason == Expired || s.Reason == Drifted
}

// saves reports whether a step is there to save something.
func (s *Step) saves() bool { return s.Reason == Empty || s.Reason == Underutilized }
