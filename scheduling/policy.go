package scheduling

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Effort says how hard to search, in units of work that do not depend on the
// computer. 0 is EffortDefault.
type Effort int64

// The named efforts.
const (
	// EffortFast settles for the first good plan: for loops that ask every few seconds, and
	// for very many pods.
	EffortFast Effort = 1
	// EffortDefault searches until more would rarely pay.
	EffortDefault Effort = 1_000
	// EffortThorough goes on for small gains, at many times the time: for plans that are
	// carried out once and run long. A search begins with the plan of the next lower named
	// effort, so that more effort never ends with a worse plan of the same pods.
	EffortThorough Effort = 20_000
)

// ParseEffort reads the name of an effort (fast, default, thorough; empty is default) or a number
// from 1.
func ParseEffort(s string) (Effort, error) {
	switch s {
	case "fast":
		return EffortFast, nil
	case "default", "":
		return EffortDefault, nil
	case "thorough":
		return EffortThorough, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("effort %q: want fast, default, thorough or a number from 1", s)
	}
	return Effort(n), nil
}

// MinValuesPolicy is the behaviour where a pool's minValues cannot be met.
type MinValuesPolicy string

// The policies on minValues.
const (
	// MinValuesStrict, the zero value's meaning, places no pod against minValues.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort lowers minValues to the possible number before it turns to a pool of
	// lower weight.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// WeightPolicy is the meaning of NodePool weights.
type WeightPolicy string

// The policies on weights.
const (
	// WeightStrict, the zero value's meaning, places each pod in the pool of the
	// highest weight that can hold it.
	WeightStrict WeightPolicy = "Strict"
	// WeightIgnore lets price alone choose the pool.
	WeightIgnore WeightPolicy = "Ignore"
)

// PreferencePolicy is the value of pods' preferences: preferred node affinity, preferred pod
// affinity and anti-affinity, and topology spread with ScheduleAnyway.
type PreferencePolicy string

// The policies on preferences.
const (
	// PreferencesRespect, the zero value's meaning, meets as many preferences as possible, by
	// weight, at any price; no preference ever keeps a pod from being placed.
	PreferencesRespect PreferencePolicy = "Respect"
	// PreferencesIgnore ignores preferences.
	PreferencesIgnore PreferencePolicy = "Ignore"
	// PreferencesPrice meets a preference where this costs at most its worth.
	PreferencesPrice PreferencePolicy = "Price"
)

// PlacementPolicy is the component that puts pods onto the nodes of a plan.
type PlacementPolicy string

// The policies on placement.
const (
	// PlacementPinned, the zero value's meaning, is for callers that bind each pod where the
	// plan says, by a scheduler or a plugin of their own: the price is the lowest on paper.
	PlacementPinned PlacementPolicy = "Pinned"
	// PlacementNominated is for callers that write the planned node into each pod's
	// status.nominatedNodeName, which kube-scheduler tries first; see provisioning.Nominations.
	PlacementNominated PlacementPolicy = "Nominated"
	// PlacementFree leaves pods to kube-scheduler, as configured by Problem.Scheduler. Nodes are
	// chosen by their estimated total: a model of kube-scheduler binds the pods in several orders,
	// and pods that are left over cost further nodes. The plan places each pod where kube-scheduler
	// is expected to bind it. Nodes are launched in as many domains of a required spread as with
	// PlacementPinned.
	PlacementFree PlacementPolicy = "Free"
)

// Policy holds the settings of a decision. The zero value works.
type Policy struct {
	// Effort bounds the search; 0 is EffortDefault.
	Effort Effort
	// Ranking orders the options of a launch and defines the price; the zero value is the lowest
	// price.
	Ranking offerings.Ranking
	// MaxOptions bounds the options of a launch; 0 is 60. minValues may exceed it.
	MaxOptions int
	// MinValues is the behaviour where minValues cannot be met; "" is Strict.
	MinValues MinValuesPolicy
	// Weights is the meaning of NodePool weights; "" is Strict.
	Weights WeightPolicy
	// Preferences is the value of pods' preferences; "" is Respect.
	Preferences PreferencePolicy
	// PreferencePrice is the worth of a preference of weight 100 per pod and hour under
	// PreferencesPrice; lighter ones are worth their share. ScheduleAnyway has weight 100.
	PreferencePrice offerings.Price
	// NoSpot launches no spot nodes, whatever NodePools allow.
	NoSpot bool
	// Filters exclude each offering that one of them does not keep from launches, whatever
	// NodePools allow. The offering stays in the catalog, and existing nodes keep its price, as
	// with NoSpot and Size.
	Filters []instancetypes.Filter
	// Size bounds the nodes that may be launched; the zero value allows all sizes.
	Size NodeSize
	// NodeOverhead is the cost of a node per hour beside the price of its instance, e.g. of its root
	// volume, its address, and agents licensed by the host. It is part of the expected price of
	// every node (see [Policy.ExpectedPrice]), so that two small nodes must be cheaper than a
	// large one by as much; 0 is no cost.
	NodeOverhead offerings.Price
	// InterruptionCost is the cost of an interruption of a spot node, which is part of the expected
	// price, too; the zero value is no cost.
	InterruptionCost InterruptionCost
	// Flexibility is the least choice of launches that may become spot nodes; the zero value
	// requires no choice.
	Flexibility Flexibility
	// WorkloadShare is the largest share of a workload's pods, in percent, that one node may
	// hold, so that losing the node loses no more: rounded down to whole pods, and at least one.
	// 0 is no bound. A workload is the pods of one controller (a ReplicaSet, a StatefulSet, a Job),
	// or, for pods without controller, the pods that the same Services of the problem select;
	// DaemonSets are left out. Pending pods and running pods that are not being deleted count. Pods
	// that already run too close together stay where they are; no more of them join. kube-scheduler
	// does not know the share, so that with [PlacementFree] it may be broken for pods of nodes that
	// must be removed.
	WorkloadShare int
	// NoReasons lists pods without a place by their names alone, for callers that only count them:
	// the plan has no reasons and no fixes, and is compared with no plan without virtual pods or without SpotPolicies.
	NoReasons bool
	// FewestNodes looks for few nodes before it looks at prices.
	FewestNodes bool
	// Placement is the component that puts pods onto nodes; "" is Pinned.
	Placement PlacementPolicy
}

// ErrInvalid is the error that every malformed problem wraps; errors.As finds the
// *FieldErrors behind it.
var ErrInvalid = errors.New("invalid problem")

// ExpectedPrice is the expected cost of a node of a type at an offering per hour: the price of
// the offering, [Policy.NodeOverhead], and the cost of its interruptions ([Policy.InterruptionCost]);
// at most [offerings.MaxPrice].
//
// The search minimises it, options are ranked by it, and it is the price of lower bound and gap.
// The ranking's strategy uses it as the price. Without a type or an offering (nil) it is 0.
func (s Policy) ExpectedPrice(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
	if t == nil || o == nil {
		return 0
	}
	return offerings.Sum(offerings.Sum(o.Price, s.NodeOverhead), s.InterruptionCost.cost(t, o))
}
