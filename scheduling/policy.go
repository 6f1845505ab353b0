package scheduling

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Effort says how hard to search, in units of work that do not depend on the
// machine. 0 is EffortDefault.
type Effort int64

// The named efforts.
const (
	// EffortFast settles for the first good plan: for loops that ask every few seconds, and
	// for very many pods.
	EffortFast Effort = 1
	// EffortDefault searches until more would rarely pay.
	EffortDefault Effort = 1_000
	// EffortThorough goes on for small gains, at many times the time: for plans that are
	// carried out once and run long. No effort above the default ends with a worse plan
	// than the default does.
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

// MinValuesPolicy says what happens when a pool's minValues cannot be met.
type MinValuesPolicy string

// The policies on minValues.
const (
	// MinValuesStrict, the zero value's meaning, places no pod against minValues.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort lowers minValues to what can be had before it turns to
	// a pool of lower weight.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// WeightPolicy says what NodePool weights mean.
type WeightPolicy string

// The policies on weights.
const (
	// WeightStrict, the zero value's meaning, places each pod in the pool of the
	// highest weight that can hold it.
	WeightStrict WeightPolicy = "Strict"
	// WeightIgnore lets price alone choose the pool.
	WeightIgnore WeightPolicy = "Ignore"
)

// PreferencePolicy says what the wishes of pods count for: preferred node affinity,
// preferred pod affinity and anti-affinity, and topology spread that may be broken
// (ScheduleAnyway).
type PreferencePolicy string

// The policies on preferences.
const (
	// PreferencesRespect, the zero value's meaning, grants as many wishes as can be,
	// by weight, whatever that costs; no wish ever keeps a pod from being placed.
	PreferencesRespect PreferencePolicy = "Respect"
	// PreferencesIgnore plans as if there were no wishes.
	PreferencesIgnore PreferencePolicy = "Ignore"
	// PreferencesPrice grants a wish where that costs at most what it is worth.
	PreferencesPrice PreferencePolicy = "Price"
)

// PlacementPolicy says who puts the pods onto the nodes that a plan buys.
type PlacementPolicy string

// The policies on placement.
const (
	// PlacementPinned, the zero value's meaning, is for callers that bind each pod where the
	// plan says, by a scheduler or a plugin of their own: the price is the lowest on paper.
	PlacementPinned PlacementPolicy = "Pinned"
	// PlacementNominated is for callers that write the planned node into each pod's
	// status.nominatedNodeName, which kube-scheduler tries first; see provisioning.Nominations.
	PlacementNominated PlacementPolicy = "Nominated"
	// PlacementFree leaves pods to kube-scheduler, which binds them wherever it likes as
	// Problem.Scheduler says. Machines are chosen by what they come to then: the pods are bound in
	// several orders by a model of kube-scheduler, and for those that are left over more is
	// bought. The plan places each pod where kube-scheduler is expected to. Where a spread has to
	// hold, machines are bought in as many of its domains as with PlacementPinned.
	PlacementFree PlacementPolicy = "Free"
)

// Policy says how to decide. The zero value works.
type Policy struct {
	// Effort bounds the search; 0 is EffortDefault.
	Effort Effort
	// Ranking orders the options of a launch and says what price means; the zero
	// value is the lowest price.
	Ranking offerings.Ranking
	// MaxOptions bounds the options of a launch; 0 is 60. minValues may exceed it.
	MaxOptions int
	// MinValues says what happens when minValues cannot be met; "" is Strict.
	MinValues MinValuesPolicy
	// Weights says what NodePool weights mean; "" is Strict.
	Weights WeightPolicy
	// Preferences says what the wishes of pods count for; "" is Respect.
	Preferences PreferencePolicy
	// PreferencePrice is what a wish of weight 100 is worth per pod and hour under
	// PreferencesPrice; lighter ones are worth their share. ScheduleAnyway weighs 100.
	PreferencePrice offerings.Price
	// NoSpot buys no spot machines, whatever NodePools allow.
	NoSpot bool
	// Filters leave out of what may be bought each offering that one of them does not keep,
	// whatever NodePools allow. It stays in the catalog, and nodes that run there keep their
	// price, as they do with NoSpot and Size.
	Filters []instancetypes.Filter
	// Size bounds the machines that may be bought; the zero value allows all sizes.
	Size NodeSize
	// NodeOverhead is what a node costs per hour beside the price of its machine, such as its
	// root volume, its address, and agents that are paid for by the host. It counts for every
	// machine as a part of its expected price (see [Policy.ExpectedPrice]), so that two small
	// machines have to be cheaper than a large one by that much; 0 is nothing.
	NodeOverhead offerings.Price
	// Interruption says what it costs when a spot machine is taken away, which is a part of
	// the expected price, too; the zero value is nothing.
	Interruption Interruption
	// Flexibility is how much choice launches have to leave that may become spot
	// machines; the zero value asks for nothing.
	Flexibility Flexibility
	// WorkloadShare is the largest share of a workload's pods, in percent, that one
	// machine may hold, so that losing the machine loses no more: rounded down to whole
	// pods, and at least one. 0 is no bound. A workload is the pods of one controller
	// (a ReplicaSet, a StatefulSet, a Job), or where they have none, those that the same
	// Services of the problem select; DaemonSets are left out. Counted are pods that
	// wait and pods that run and are not being deleted. Pods that already run too close
	// together stay where they are; no more of them join. kube-scheduler does not know the
	// share: with [PlacementFree] it holds for pods of nodes that have to go only as far as
	// kube-scheduler happens to keep to it.
	WorkloadShare int
	// NoReasons lists pods without a place by their names alone, for those who only count
	// them: the plan has no reasons, and nothing is tried that would place them.
	NoReasons bool
	// FewestNodes looks for few machines before it looks at prices.
	FewestNodes bool
	// Placement says who puts pods onto nodes; "" is Pinned.
	Placement PlacementPolicy
}

// ErrInvalid is the error that every malformed problem wraps; errors.As finds the
// *FieldErrors behind it.
var ErrInvalid = errors.New("invalid problem")

// ExpectedPrice is what a machine of a type that is bought at an offering is expected to
// cost per hour, all in all: the price of the offering, [Policy.NodeOverhead], and what its
// interruptions cost ([Policy.Interruption]); at most [offerings.MaxPrice].
//
// The search minimises it, options are ranked by it, and lower bound and gap are about it.
// The ranking's strategy takes it for the price. Without a type or an offering (nil) it is 0.
func (s Policy) ExpectedPrice(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
	if t == nil || o == nil {
		return 0
	}
	return offerings.Sum(offerings.Sum(o.Price, s.NodeOverhead), s.Interruption.cost(t, o))
}
