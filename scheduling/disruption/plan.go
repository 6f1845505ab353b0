package disruption

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
)

// Plan says what to remove and what to buy in its place, and why each other node stays.
// The JSON names are a contract.
type Plan struct {
	// Steps are carried out one after the other: each is possible once those before it
	// are done, and does not need those after it.
	Steps []Step `json:"steps"`
	// Cordon are the nodes to close to new pods before the first step, by name: those that steps
	// remove, but where earlier steps expect pods to land. kube-scheduler would bind evicted pods
	// there, and they would have to move once more. Whoever leaves the plan before its end opens those again
	// that are still there. It is set only with [scheduling.PlacementFree]; [Planner.Steps] cannot tell
	// it.
	Cordon []string `json:"cordon,omitempty"`
	// Nodes says of each node of the cluster what becomes of it, by name.
	Nodes []Verdict `json:"nodes"`
	// Pending is what becomes of pods that have no node yet; nil if there are none.
	Pending *Pending `json:"pending,omitempty"`
	// Warnings are what was noticed and did not stop the plan.
	Warnings []scheduling.Warning `json:"warnings"`
	// Summary adds up.
	Summary Summary `json:"summary"`
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
	// that was not looked for (only with [Underutilized], and in time).
	Rebuilt *Rebuilt `json:"rebuilt,omitempty"`
	// Blocked is what [Planner.Blocked] says of the plan, for whoever asks it: plans do not try it
	// themselves.
	Blocked []Blocked `json:"blocked,omitempty"`
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
	// Realised is what the steps come to where kube-scheduler binds evicted pods as it likes; set
	// only with [scheduling.PlacementFree].
	Realised *Realised `json:"realised,omitempty"`
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
	Certificate *certificate.Certificate `json:"certificate,omitempty"`
}

// Rebuilt is the cheapest cluster that was found for the same pods when every node of a pool
// whose price is known may go, whatever speaks against it but [Machine.MustStay], and is to be had
// again. Where the steps reach a cheaper one, it is that.
type Rebuilt struct {
	// Nodes are how many the prices are of, which are as in Summary.
	Nodes           int             `json:"nodes"`
	PricePerHour    offerings.Price `json:"pricePerHour"`
	ExpectedPerHour offerings.Price `json:"expectedPerHour,omitempty"`
	// Composition is what these nodes are, the most expensive first: counts and prices come to
	// those above.
	Composition []NodeKind `json:"composition"`
	// LeftOut are pods that it has no place for, by name.
	LeftOut []string `json:"leftOut,omitempty"`
}

// NodeKind is how many nodes of a NodePool have an instance type, a zone and a capacity type in common.
type NodeKind struct {
	// NodePool, InstanceType, Zone and CapacityType are what they have in common.
	NodePool     string                 `json:"nodePool"`
	InstanceType string                 `json:"instanceType"`
	Zone         string                 `json:"zone"`
	CapacityType offerings.CapacityType `json:"capacityType"`
	// Nodes are how many they are, Existing how many of them are nodes of the cluster that stay.
	Nodes    int `json:"nodes"`
	Existing int `json:"existing,omitempty"`
	// PricePerHour and ExpectedPerHour are of all of them together, as in Rebuilt.
	PricePerHour    offerings.Price `json:"pricePerHour"`
	ExpectedPerHour offerings.Price `json:"expectedPerHour,omitempty"`
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
