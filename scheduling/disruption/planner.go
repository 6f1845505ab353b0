package disruption

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Planner decides what to disrupt. The zero value works: it plans for the cluster's
// Problem.Now.
type Planner struct {
	// Now is the time of the decision; zero is Problem.Now of the cluster. One of the two is
	// needed: budgets, expiry and consolidateAfter depend on it.
	Now time.Time
	// Solver holds the settings under which places and replacements are looked for, and the
	// effort of the search.
	Solver scheduling.Solver
	// Reasons are those for which nodes may be disrupted; none means all but Misplaced.
	Reasons []Reason
	// MinSaving is what a step for Underutilized has to save.
	MinSaving Saving
	// BalancedK sets the threshold of pools with policy Balanced, 1/k; 0 is 2.
	BalancedK float64
	// SpotToSpotTypes is how many cheaper instance types a spot machine's replacement by
	// spot needs to be able to choose from; 0 is 15. Below 0 spot is never replaced by spot.
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
