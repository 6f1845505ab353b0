// Package binding carries plans out as kube-scheduler would: pods bind one by one where the rules
// between pods let them.
package binding

// A map of this package's files
//
//	topology     nodes with the pods on them, and what rules between pods count there
//	obstacle     the rule that keeps a pod off a node
//	binding      pods that bind, one after the other
