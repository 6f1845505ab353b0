package disruption

import (
	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
)

// ConsolidationPlan has the steps that remove or replace nodes, and the causes for which all other nodes stay. The JSON names are
// a contract.
type ConsolidationPlan struct {
	// Steps are carried out one after the other: each is possible once those before it are done, and does not need
	// those after it.
	Steps []Step `json:"steps"`
	// Cordon are the nodes to cordon before the first step, by name: nodes that steps remove, except where an earlier
	// step expects pods. Otherwise kube-scheduler would bind evicted pods to them, which then had to move once more.
	// If the plan is left before its end, they have to be uncordoned unless they are gone. It is set only with
	// [scheduling.PlacementFree]; [Planner.Steps] does not return it.
	Cordon []string `json:"cordon,omitempty"`
	// Nodes are the verdicts about all nodes of the cluster, by name.
	Nodes []Verdict `json:"nodes"`
	// Pending counts the pods that have no node yet, without virtual ones; nil if there are none.
	Pending *Pending `json:"pending,omitempty"`
	// Room are the virtual pods ([scheduling.IsVirtual]) that have room on nodes of the cluster before the first step, by node.
	// Each has room after each step, too, on the node that the last of its evictions says.
	Room []scheduling.Assignment `json:"room,omitempty"`
	// RoomPending counts the virtual pods as Pending counts the others; nil if there are none. Those of Room are its Existing.
	RoomPending *Pending `json:"roomPending,omitempty"`
	// Warnings are faults and risks that did not stop the plan.
	Warnings []scheduling.Warning `json:"warnings"`
	// Summary has the sums of the plan.
	Summary ConsolidationSummary `json:"summary"`
	// Bill is as in [scheduling.Plan], before the first step and after the last.
	Bill *billing.Statement `json:"bill,omitempty"`
	// Settings are as in [scheduling.Plan]. The command always states the time for which it plans, as now.
	Settings map[string][]string `json:"settings,omitempty"`
}

// ConsolidationSummary has the sums of a plan. Prices are in USD per hour.
type ConsolidationSummary struct {
	// PricePerHourBefore and PricePerHourAfter are the price of the instances of all nodes of NodePools whose price is known,
	// without the policy's further costs. The command's table shows them only where there are no such costs, as its rows
	// "now" and "after these steps".
	PricePerHourBefore offerings.Price `json:"pricePerHourBefore"`
	PricePerHourAfter  offerings.Price `json:"pricePerHourAfter"`
	// ExpectedPerHourBefore and ExpectedPerHourAfter are the expected prices of the same nodes
	// ([scheduling.Policy.ExpectedPrice]); set only if the policy has costs beyond the price of instances. Savings,
	// bound and gap are of expected prices then. They are the rows "now" and "after these steps" of the command's table.
	ExpectedPerHourBefore offerings.Price `json:"expectedPerHourBefore,omitempty"`
	ExpectedPerHourAfter  offerings.Price `json:"expectedPerHourAfter,omitempty"`
	// NodeOverheadPerHour is the policy's cost of a node beyond its instance.
	NodeOverheadPerHour offerings.Price `json:"nodeOverheadPerHour,omitempty"`
	// LowerBoundPerHour is a proven price: no set of nodes that holds the same pods costs less, if nodes that may
	// not be disrupted stay as they are; 0 if none is proven.
	LowerBoundPerHour offerings.Price `json:"lowerBoundPerHour"`
	// Rebuilt is the cheapest cluster for the same pods if no node has to stay; nil if it was not looked for (without
	// [Underutilized], or after the deadline).
	Rebuilt *Rebuilt `json:"rebuilt,omitempty"`
	// Blocked is the result of [Planner.Blocked] for the plan. [Planner.Plan] does not set it, because it takes
	// several plans.
	Blocked []Blocked `json:"blocked,omitempty"`
	// Gap is (price after − bound) ÷ bound; 0 where the bound is 0.
	Gap float64 `json:"gap"`
	// NodesBefore and NodesAfter count the nodes of the prices above.
	NodesBefore int `json:"nodesBefore"`
	NodesAfter  int `json:"nodesAfter"`
	// PodsMoved is the number of evictions, Launches the number of nodes to launch.
	PodsMoved int `json:"podsMoved"`
	Launches  int `json:"launches"`
	// DisruptionCost is the sum over the steps.
	DisruptionCost float64 `json:"disruptionCost"`
	// UnpricedNodes counts the nodes of pools whose price is not known.
	UnpricedNodes int `json:"unpricedNodes,omitempty"`
	// Alternative is the cheapest cluster on nodes of [Cluster.Alternative]; nil without such pools.
	Alternative *Rebuilt `json:"alternative,omitempty"`
	// AfterScheduling is the mean of the plan played with other choices of kube-scheduler; set only with
	// [scheduling.PlacementFree]. Its price is the row "expected after scheduling" of the command's table.
	AfterScheduling *StepsAfterScheduling `json:"afterScheduling,omitempty"`
	// Status is how the search ended; with StatusDeadline there may be further steps.
	Status scheduling.Status `json:"status"`
	// SpotShares are the shares of the SpotPolicies after the last step, by name of the policy, with launched nodes as the first
	// options of their launches. SpotAfterScheduling is not set.
	SpotShares []scheduling.SpotShare `json:"spotShares,omitempty"`
	// Frontier is the saving, and the pods moved for it, after each step.
	Frontier []Point `json:"frontier,omitempty"`
	// LeftOut are pods without which the bound holds, because the rebuilt cluster has no node for them, by name.
	LeftOut []string `json:"leftOut,omitempty"`
	// Catalog is the origin of the prices in [scheduling.Problem.Catalog].
	Catalog instancetypes.Origin `json:"catalog,omitzero"`
	// Certificate proves the lower bound, for the problem that [Cluster.RebuildProblem] returns for the cluster with its room
	// ([Cluster.WithRoom]).
	Certificate *certificate.Certificate `json:"certificate,omitempty"`
}

// Rebuilt is the cheapest cluster that was found for the same pods if every node of a pool whose price is known may
// be removed, except by [Machine.MustStay], and may be launched again. If the steps reach a cheaper cluster, it is
// that one.
type Rebuilt struct {
	// Nodes counts the nodes that the prices are of; the prices are as in Summary.
	Nodes           int             `json:"nodes"`
	PricePerHour    offerings.Price `json:"pricePerHour"`
	ExpectedPerHour offerings.Price `json:"expectedPerHour,omitempty"`
	// Composition are these nodes by kind, the most expensive kind first. Its counts and prices add up to the sums
	// above.
	Composition []NodeKind `json:"composition"`
	// LeftOut are pods that fit on no node of it, by name.
	LeftOut []string `json:"leftOut,omitempty"`
	// RoomPerHour is by how much the expected price ([scheduling.Policy.ExpectedPrice]) exceeds that of the same cluster without
	// the room of virtual pods, in USD per hour; nil without such room ([ConsolidationPlan.Room]), and after the deadline.
	RoomPerHour *offerings.Price `json:"roomPerHour,omitempty"`
}

// Point has the sums over the first steps of a plan.
type Point struct {
	// Steps is the number of these steps.
	Steps int `json:"steps"`
	// SavingPerHour (USD per hour) and PodsMoved are sums over them.
	SavingPerHour offerings.Price `json:"savingPerHour"`
	PodsMoved     int             `json:"podsMoved"`
	// DisruptionCost is the sum over them.
	DisruptionCost float64 `json:"disruptionCost"`
}
