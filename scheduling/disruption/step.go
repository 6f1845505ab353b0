package disruption

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Plan says what to remove and what to buy in its place, and why each other node stays.
// The JSON names are a contract.
type Plan struct {
	// Steps are carried out one after the other: each is possible once those before it
	// are done, and does not need those after it.
	Steps []Step `json:"steps"`
	// Nodes says of each node of the cluster what becomes of it, by name.
	Nodes []Verdict `json:"nodes"`
	// Warnings are what was noticed and did not stop the plan.
	Warnings []scheduling.Warning `json:"warnings"`
	// Summary adds up.
	Summary Summary `json:"summary"`
}

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
	// in the plan and no node's. Their pods are those of the step's evictions.
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

// Summary adds a plan up.
type Summary struct {
	// PricePerHourBefore and PricePerHourAfter are what all nodes cost whose price is known,
	// those that no pool owns left out.
	PricePerHourBefore offerings.Price `json:"pricePerHourBefore"`
	PricePerHourAfter  offerings.Price `json:"pricePerHourAfter"`
	// ExpectedPerHourBefore and ExpectedPerHourAfter are those prices and what the nodes are
	// expected to cost beside; set only where the solver is told of such costs
	// ([scheduling.Policy.ExpectedPrice]). Then savings, bound and gap are about them.
	ExpectedPerHourBefore offerings.Price `json:"expectedPerHourBefore,omitempty"`
	ExpectedPerHourAfter  offerings.Price `json:"expectedPerHourAfter,omitempty"`
	// NodeOverheadPerHour is what each node was taken to cost beside its machine.
	NodeOverheadPerHour offerings.Price `json:"nodeOverheadPerHour,omitempty"`
	// LowerBoundPerHour is a price below which no set of machines can be that holds the same
	// pods, if nodes that may not be touched stay as they are; 0 where none is proven.
	LowerBoundPerHour offerings.Price `json:"lowerBoundPerHour"`
	// Rebuilt is what the same pods would cost if none of the nodes before had to stay; nil where
	// that was not looked for (only with [Underutilized], and in time). Kept says what keeps the
	// steps from reaching it: the amounts come to the difference.
	Rebuilt *Rebuilt `json:"rebuilt,omitempty"`
	Kept    []Kept   `json:"kept,omitempty"`
	// Gap is (price after − bound) ÷ bound; 0 where the bound is 0.
	Gap float64 `json:"gap"`
	// NodesBefore and NodesAfter count the same nodes.
	NodesBefore int `json:"nodesBefore"`
	NodesAfter  int `json:"nodesAfter"`
	// PodsMoved is the number of evictions, Launches that of machines to buy.
	PodsMoved int `json:"podsMoved"`
	Launches  int `json:"launches"`
	// DisruptionCost is the sum of the steps'.
	DisruptionCost float64 `json:"disruptionCost"`
	// UnpricedNodes are those of pools whose price is not known.
	UnpricedNodes int `json:"unpricedNodes,omitempty"`
	// Alternative is what the cluster would cost with other NodePools; nil where there are none
	// to compare with.
	Alternative *Rebuilt `json:"alternative,omitempty"`
	// Status says how the search ended; StatusDeadline, that there may be further steps.
	Status scheduling.Status `json:"status"`
	// Frontier is what has been saved, and moved for it, after each step.
	Frontier []Point `json:"frontier,omitempty"`
	// LeftOut are pods that the bound leaves out, as a cluster bought afresh has no place for
	// them, by name.
	LeftOut []string `json:"leftOut,omitempty"`
	// Catalog says what the prices are: those of [scheduling.Problem.Catalog].
	Catalog instancetypes.Origin `json:"catalog,omitzero"`
	// Certificate proves the lower bound, for the problem that [Cluster.Anew] returns.
	Certificate *scheduling.Certificate `json:"certificate,omitempty"`
}

// Rebuilt is the cheapest cluster that was found for the same pods when every node of a pool
// whose price is known may go, whatever speaks against it, and is to be had again. Where the
// steps reach a cheaper one, it is that.
type Rebuilt struct {
	// Nodes are how many the prices are of, which are as in Summary.
	Nodes           int             `json:"nodes"`
	PricePerHour    offerings.Price `json:"pricePerHour"`
	ExpectedPerHour offerings.Price `json:"expectedPerHour,omitempty"`
	// LeftOut are pods that it has no place for, by name.
	LeftOut []string `json:"leftOut,omitempty"`
}

// Kept is a part of what the cluster costs more after the steps than built anew. That is
// divided among the nodes by what each costs beyond what its pods are worth at the prices of
// the cluster built anew ([scheduling.Certificate.Worths]), and counted for the first of the
// reasons for which the node stays.
type Kept struct {
	// Code is that reason; CauseSearch for machines that steps have bought, for nodes that take
	// in pods, and where no cheaper move was found.
	Code CauseCode `json:"code"`
	// Nodes are how many it is about, PerHour what they cost more.
	Nodes   int             `json:"nodes"`
	PerHour offerings.Price `json:"perHour"`
}

// Point is how far a number of steps get.
type Point struct {
	// Steps is how many steps are done.
	Steps int `json:"steps"`
	// SavingPerHour and PodsMoved are the sums of theirs.
	SavingPerHour offerings.Price `json:"savingPerHour"`
	PodsMoved     int             `json:"podsMoved"`
	// DisruptionCost is the sum of the steps'.
	DisruptionCost float64 `json:"disruptionCost"`
}
