package rule

// The rules about the plan as a whole and about where each pod stands.
const (
	NoPlan            = "no-plan"
	PodMissing        = "pod-missing"
	PodDuplicated     = "pod-duplicated"
	PodUnknown        = "pod-unknown"
	PodNotPending     = "pod-not-pending"
	PodHeld           = "pod-held"
	Unsorted          = "unsorted"
	NoReason          = "no-reason"
	NoFix             = "no-fix"
	NoMessage         = "no-message"
	RefusedForNothing = "refused-for-nothing"
	WeightIgnored     = "weight-ignored"
)

// The rules about launches.
const (
	LaunchName         = "launch-name"
	LaunchEmpty        = "launch-empty"
	LaunchPrice        = "launch-price"
	LaunchRequests     = "launch-requests"
	LaunchLabels       = "launch-labels"
	LaunchTaints       = "launch-taints"
	LaunchRequirements = "launch-requirements"
	PoolUnknown        = "pool-unknown"
	PoolClosed         = "pool-closed"
	NoOptions          = "no-options"
	TooManyOptions     = "too-many-options"
	MinValues          = "min-values"
	WorkloadShare      = "workload-share"
	SpotShare          = "spot-share"
	Flexibility        = "flexibility"
	Limits             = "limits"
	Reservation        = "reservation"
)

// The rules about single options.
const (
	OptionDuplicated    = "option-duplicated"
	OptionOrder         = "option-order"
	OptionPrice         = "option-price"
	OptionInterruption  = "option-interruption"
	OptionEstimated     = "option-estimated"
	TypeUnknown         = "type-unknown"
	OfferingUnknown     = "offering-unknown"
	OfferingUnavailable = "offering-unavailable"
	PoolRequirements    = "pool-requirements"
	OptionExcluded      = "option-excluded"
)

// The rules about pods and the nodes and options that they are on.
const (
	NodeAffinity      = "node-affinity"
	SpotPolicy        = "spot-policy"
	Taints            = "taints"
	HostPorts         = "host-ports"
	Resources         = "resources"
	NodeUnknown       = "node-unknown"
	NodeLeaving       = "node-leaving"
	NodeDuplicated    = "node-duplicated"
	NodeEmpty         = "node-empty"
	NominationIgnored = "nomination-ignored"
)

// The rules about volumes.
const (
	Volume      = "volume"
	VolumeInUse = "volume-in-use"
	VolumeApart = "volume-apart"
	VolumeGone  = "volume-gone"
	AttachLimit = "attach-limit"
)

// The rules between pods: topology terms. A plan keeps them if its pods can bind one by one.
const (
	TopologySpread  = "topology-spread"
	PodAffinity     = "pod-affinity"
	PodAntiAffinity = "pod-anti-affinity"
	OptionTopology  = "option-topology"
)

// The rules about the summary and the bound.
const (
	SummaryCounts          = "summary-counts"
	SummaryPrice           = "summary-price"
	SummaryExpected        = "summary-expected"
	SummaryGap             = "summary-gap"
	SummaryAfterScheduling = "summary-after-scheduling"
	SummaryStatus          = "summary-status"
	SummaryShares          = "summary-shares"
	SummaryResources       = "summary-resources"
	SummaryRoomKept        = "summary-room-kept"
	SummarySpotShares      = "summary-spot-shares"
	RoomKept               = "room-kept"
	BoundAbovePrice        = "bound-above-price"
	BoundUnproven          = "bound-unproven"
	CertificateMissing     = "certificate-missing"
	CertificateMalformed   = "certificate-malformed"
	CertificateOption      = "certificate-option"
)

// The rules about the steps of plans that disrupt nodes. The rules about launches, nodes and pods hold for steps,
// too.
const (
	StepEmpty          = "step-empty"
	StepReason         = "step-reason"
	NotDisruptable     = "not-disruptable"
	DoNotDisrupt       = "do-not-disrupt"
	BarePod            = "bare-pod"
	Policy             = "policy"
	TooSoon            = "too-soon"
	NodeBudget         = "node-budget"
	PodBudget          = "pod-budget"
	BudgetUse          = "budget-use"
	EvictionMissing    = "eviction-missing"
	EvictionUnknown    = "eviction-unknown"
	MovedTwice         = "moved-twice"
	Landing            = "landing"
	Wave               = "wave"
	StepSaving         = "step-saving"
	StepCost           = "step-cost"
	StepScore          = "step-score"
	SavingTooSmall     = "saving-too-small"
	BelowThreshold     = "below-threshold"
	SpotToSpot         = "spot-to-spot"
	NodeVerdict        = "node-verdict"
	StepRisk           = "step-risk"
	SummaryComposition = "summary-composition"
	SummaryRebuilt     = "summary-rebuilt"
	SummaryBlocked     = "summary-blocked"
	Cordon             = "cordon"
	SummaryFrontier    = "summary-frontier"
)
