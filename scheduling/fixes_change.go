package scheduling

// Change is one change that places a pod, or that keeps it in the place that a plan has for it. Its
// kind decides which of Key, From, To, Values and Object are set.
type Change struct {
	// Kind is the kind of change.
	Kind ChangeKind `json:"kind"`
	// Text states it for people. It is the entry of the pod's Fixes at the same index.
	Text string `json:"text"`
	// Object is the object to change, as kind/name or kind/namespace/name; "" is the pod.
	Object string `json:"object,omitempty"`
	// Key is the resource, label, taint or topology key, or the CSI driver of volumes.
	Key string `json:"key,omitempty"`
	// From is the present value and To the value that suffices: quantities, numbers, or the value
	// of a taint.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Effect is the effect of a taint.
	Effect string `json:"effect,omitempty"`
	// Values are a few values of Key, of which each suffices.
	Values []string `json:"values,omitempty"`
	// And are further changes that are needed together with this one.
	And []Change `json:"and,omitempty"`
}

// ChangeKind names a kind of change; the set is closed, and the names are stable.
type ChangeKind string

// The kinds of changes.
const (
	ChangeRequest         ChangeKind = "request"           // ask for at most To of the resource Key
	ChangeRoom            ChangeKind = "room"              // free To of the resource Key on Object
	ChangeUnit            ChangeKind = "unit"              // the request of Key is probably a slip of the unit; To is what was meant
	ChangeTaint           ChangeKind = "taint"             // have the taints Key taken off Object, which say how it is: uncordon or repair the node
	ChangeToleration      ChangeKind = "toleration"        // tolerate Key=To:Effect, a taint of Object
	ChangeSelector        ChangeKind = "node-selector"     // ask for one of Values of the label Key; for the label To instead; or not for Key at all
	ChangeNodeAffinity    ChangeKind = "node-affinity"     // the same in the required node affinity; without Key, drop it
	ChangeLimit           ChangeKind = "limit"             // raise the limit Key of the node pool Object to To
	ChangeReplicas        ChangeKind = "replicas"          // raise the replicas of the static node pool Object to To
	ChangeReservation     ChangeKind = "reservation"       // raise the count of the reservation Object by To, by 1 where that is empty
	ChangeMinValues       ChangeKind = "min-values"        // lower minValues
	ChangeNodePool        ChangeKind = "node-pool"         // add a node pool, or let Object have one of Values of the label Key
	ChangeOffering        ChangeKind = "offering"          // wait until Object is available
	ChangeHostPort        ChangeKind = "host-port"         // bind another port
	ChangeDaemonSet       ChangeKind = "daemon-set"        // ask for less in the daemon set Object
	ChangeMaxSkew         ChangeKind = "max-skew"          // raise the maxSkew over Key to To
	ChangeMinDomains      ChangeKind = "min-domains"       // lower the minDomains over Key to To
	ChangeNodeInclusion   ChangeKind = "node-inclusion"    // let the spread over Key look only at nodes that the pod may use: To is the field to set to Honor
	ChangeScheduleAnyway  ChangeKind = "schedule-anyway"   // let the spread over Key be a preference
	ChangeDomain          ChangeKind = "domain"            // make room where Key is one of Values
	ChangePodAffinity     ChangeKind = "pod-affinity"      // let the affinity over Key be a preference
	ChangePodAntiAffinity ChangeKind = "pod-anti-affinity" // let the anti-affinity over Key, of Object and of pods that have the same, be a preference
	ChangePods            ChangeKind = "pods"              // a pod has to be there: Object, or any that matches
	ChangeVolume          ChangeKind = "volume"            // use volumes that are elsewhere, or at most To of the driver Key; let the storage class Object make them elsewhere; have the claim Object made again
	ChangeClaim           ChangeKind = "claim"             // create, repair or share the claim, volume or storage class Object
	ChangeGate            ChangeKind = "scheduling-gate"   // remove the scheduling gate Object
	ChangeResourceClaim   ChangeKind = "resource-claim"    // drop the resource claim Object
	ChangeNodeSize        ChangeKind = "node-size"         // let Policy.Size reach To of the resource Key
	ChangeFlexibility     ChangeKind = "flexibility"       // ask for less in Policy.Flexibility
	ChangeSpot            ChangeKind = "spot"              // let spot nodes be launched
	ChangeFilter          ChangeKind = "filter"            // let Policy.Filters keep the offering Object
	ChangeWorkloadShare   ChangeKind = "workload-share"    // raise Policy.WorkloadShare
	ChangeNomination      ChangeKind = "nomination"        // write Object into status.nominatedNodeName, for a launch the node that it becomes
	ChangeOrder           ChangeKind = "order"             // let it be bound before others: raise its priority to To, or hold them off with scheduling gates
	ChangeHold            ChangeKind = "hold"              // hold it off with a scheduling gate until Object is there and admits it
	ChangeEffort          ChangeKind = "effort"            // no change: the plan misses a place that exists
)
