// Package state keeps the objects of a cluster from the watch events of its API server, for programs that plan again and
// again: a [Cluster] takes events from any goroutine, and Read hands all that have come to a [provisioning.Session] as
// one change. The controller acts on it; Karpenter's shadow only compares.
//
//	kinds.go    the kinds of objects that are read, and their place in a change of the session
//	inbox.go    events that have come and are not read yet
//	cluster.go  the objects that are read; which the session refuses
//	warnings.go the warnings of plans, each logged once
//	pods.go     pods that need a node, pods of each node, and the last time that one came or left
package state
