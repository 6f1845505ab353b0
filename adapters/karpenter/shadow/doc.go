// Package shadow watches a Karpenter that runs as it is, and compares each of its decisions with the one that Plimsoll would
// have made for the same cluster, in dollars per hour. It changes nothing.
//
// A [Shadow] is told of the cluster's objects ([Watch] does that), and keeps them in a session. A decision is the
// NodeClaims that Karpenter creates within one window of its batching, or those that it starts to disrupt, with the
// NodeClaims that replace them. For each decision the cluster is taken back to the moment before it: NodeClaims that it
// created are gone and their pods pending, and the nodes that it removes are as they were. Plimsoll plans from there, so
// that both decide about the same cluster, and no imaginary cluster drifts away from the real one.
//
// A decision counts once Karpenter's nodes have registered and the removed NodeClaims are being deleted. It counts for as
// long as the nodes run that it launched; see ledger.go.
//
//	shadow.go    options; a round: events in, decisions out
//	claims.go    NodeClaims: how plans see nodes that are starting; the beginning of a decision
//	settings.go  NodePools, NodeOverlays and node classes, and the catalogs that follow from them
//	rewind.go    the cluster before a decision
//	plans.go     the plans from there, and for the whole cluster
//	decision.go  a decision with both sides, and when it is settled
//	ledger.go    sums by NodePool and cause
//	metrics.go   sums as metrics
//	watch.go     objects from an API server
package shadow
