// Package autoscaler imitates how Cluster Autoscaler decides: node groups of one
// machine type each; for each group an estimate of how many of its nodes the pending
// pods need, groups of alike pods together and the next node when one is full; an
// expander that chooses one group; and another round for the pods that the group could
// not take. The choice of one group for all pods that it can take is what tells this
// from planning.
//
// Every type that a pool may buy is a node group here, which is more than anybody
// configures.
package autoscaler
