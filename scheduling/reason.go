package scheduling

import (
	"fmt"
	"slices"
)

// ReasonCode names one cause; the set is closed, and the names are stable. A new code also needs its detection and text in
// package explain, and a place in the list of codes that package verify knows.
type ReasonCode string

// The reason codes of nodes, offerings and NodePools.
const (
	ReasonResources      ReasonCode = "resources"        // the option is too small, daemons counted
	ReasonNoResource     ReasonCode = "no-such-resource" // no option or node has the resource at all
	ReasonRequirements   ReasonCode = "requirements"     // node selector or required node affinity
	ReasonTaints         ReasonCode = "taints"           // an untolerated taint
	ReasonHostPorts      ReasonCode = "host-ports"       // a port is taken on the node
	ReasonLimits         ReasonCode = "limits"           // the pool's limits are used up
	ReasonMinValues      ReasonCode = "min-values"       // too few types would remain for the pool's minValues
	ReasonReservation    ReasonCode = "reservation"      // the reservation is used up
	ReasonNoNodePool     ReasonCode = "no-node-pool"     // no pool may launch anything
	ReasonNoInstanceType ReasonCode = "no-instance-type" // the pool's requirements leave no type or offering
	ReasonUnavailable    ReasonCode = "unavailable"      // the offering failed lately or is not available now
	ReasonUnsupported    ReasonCode = "unsupported"      // the pod asks for something that is not modelled
	ReasonNodeNotReady   ReasonCode = "node-not-ready"   // the node is being removed
)

// The reason codes of settings of a [Policy].
const (
	ReasonNodeSize ReasonCode = "node-size" // the node is smaller or larger than Policy.Size allows
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

// ReasonCount is one cause with the number of options and nodes it ruled out.
type ReasonCount struct {
	// Code names the cause, for programs.
	Code ReasonCode `json:"code"`
	// Count is over options (pool, type, zone, capacity type) and nodes, Nodes of these over nodes alone.
	Count int `json:"count"`
	Nodes int `json:"nodes,omitempty"`
	// Detail names the user's own words: the taint, the key, the resource.
	Detail string `json:"detail"`
}

// Candidates states the counts of a reason for people: "12 offerings, 3 nodes". It is
// "" where the reason concerns the pod or a NodePool, and no candidates.
func (r *ReasonCount) Candidates() string {
	switch {
	case slices.Contains([]ReasonCode{ReasonNoNodePool, ReasonNoInstanceType, ReasonUnsupported}, r.Code),
		r.Code == ReasonVolume && r.Count == 1 && r.Nodes == 0: // a volume that cannot be used anywhere
		return ""
	}
	text := ""
	switch offers := r.Count - r.Nodes; {
	case offers == 1:
		text = "1 offering"
	case offers > 1:
		text = fmt.Sprintf("%d offerings", offers)
	}
	if text != "" && r.Nodes > 0 {
		text += ", "
	}
	switch {
	case r.Nodes == 1:
		text += "1 node"
	case r.Nodes > 1:
		text += fmt.Sprintf("%d nodes", r.Nodes)
	}
	return text
}
