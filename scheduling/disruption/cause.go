package disruption

// CauseCode names one cause for which a node stays; the set is closed, and the names are
// stable.
type CauseCode string

// What keeps a node from being a candidate at all.
const (
	CauseNoNodePool     CauseCode = "no-node-pool"     // no pool owns it, or the pool is not there
	CauseNoTypes        CauseCode = "no-types"         // its pool has nothing on sale
	CauseNotReady       CauseCode = "not-ready"        // it has not become ready yet
	CauseGoing          CauseCode = "going"            // it is being removed already
	CauseNominated      CauseCode = "nominated"        // pods are expected there
	CauseDoNotDisrupt   CauseCode = "do-not-disrupt"   // the node, or a pod on it, asks not to be disrupted
	CauseBarePod        CauseCode = "bare-pod"         // a pod without a controller would be gone for good, see Planner.KeepBarePods
	CauseBudget         CauseCode = "pod-budget"       // a PodDisruptionBudget lets no pod go
	CausePoolBudget     CauseCode = "node-budget"      // the pool's budgets let no further node go
	CausePolicy         CauseCode = "policy"           // the pool is only consolidated when nodes are empty, or never
	CauseTooSoon        CauseCode = "too-soon"         // consolidateAfter or the minimum lifetime has not passed
	CauseStatic         CauseCode = "static"           // the pool keeps a fixed number of nodes
	CauseUnknownPrice   CauseCode = "unknown-price"    // type, zone or capacity type are not known, or not in the catalog
	CauseReasonNotMeant CauseCode = "reason-not-meant" // the planner is not to disrupt nodes for this reason
)

// What speaks against the best move that would drain a node.
const (
	CauseNoPlace     CauseCode = "no-place"     // a pod of the node has nowhere else to go
	CauseNoSaving    CauseCode = "no-saving"    // what would take its place costs as much, or more
	CauseSmallSaving CauseCode = "small-saving" // the saving is below what is asked for
	CauseScore       CauseCode = "score"        // the saving is not worth the disruption
	CauseSpotChoice  CauseCode = "spot-choice"  // too few cheaper types for spot to replace spot
	CauseMinValues   CauseCode = "min-values"   // cheaper types alone do not meet the pool's minValues
	CauseReceives    CauseCode = "receives"     // it takes in pods of nodes that are drained
	CauseDeadline    CauseCode = "deadline"     // the deadline passed before it was looked at
	CauseLater       CauseCode = "later"        // the plan ends before it was looked at, see Planner.MaxSteps
)

// CauseSearch stands in [Summary.Kept] for all that no node is to blame for.
const CauseSearch CauseCode = "search"
