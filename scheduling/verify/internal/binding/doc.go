// Package binding carries plans out as kube-scheduler would: it owns the nodes with the pods on them and the counts
// of topology terms, and binds pods one by one where the terms let them. It promises that undoing leaves everything
// as before. Whether a pod fits its node otherwise (room, labels, taints, ports, volumes) it does not know: see
// snapshot.
package binding

// A map of this package's files
//
//	topology     nodes with the pods on them, and the counts of topology terms
//	obstacle     the term that keeps a pod off a node
//	binding      pods that bind, one after the other
