package scheduling

// The reason codes of settings of a [Policy].
const (
	ReasonNodeSize ReasonCode = "node-size" // the machine is smaller or larger than Policy.Size allows
	ReasonNoSpot   ReasonCode = "no-spot"   // Policy.NoSpot rules it out
	ReasonFilter   ReasonCode = "filter"    // one of Policy.Filters rules it out
	// ReasonWorkloadShare says that the node holds as many pods of the workload as
	// Policy.WorkloadShare lets it.
	ReasonWorkloadShare ReasonCode = "workload-share"
	// ReasonFlexibility says that too few spot options would remain for Policy.Flexibility.
	ReasonFlexibility ReasonCode = "flexibility"
)

// The reason codes of topology terms, volumes, weights and the search.
const (
	ReasonTopologySpread  ReasonCode = "topology-spread"   // a spread constraint would be violated
	ReasonPodAffinity     ReasonCode = "pod-affinity"      // no pod of its affinity is there
	ReasonPodAntiAffinity ReasonCode = "pod-anti-affinity" // a pod of its anti-affinity, or whose anti-affinity selects it, is there
	ReasonVolume          ReasonCode = "volume"            // a volume cannot be used there, or not at all
	ReasonAttachLimit     ReasonCode = "attach-limit"      // the node takes no further volumes
	ReasonWeight          ReasonCode = "weight"            // a node pool of higher weight can hold the pods
	ReasonSearch          ReasonCode = "search"            // no single constraint rules it out, but no plan was found that uses it
)
