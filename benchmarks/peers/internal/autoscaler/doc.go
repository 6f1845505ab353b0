// Package autoscaler imitates Cluster Autoscaler's scale-up: node groups of one machine
// type each; for each group an estimate of the number of nodes for the pending pods,
// equal pods together and the next node when one is full; an expander that chooses one
// group; and another round for the pods that do not fit the group's nodes. Unlike a
// planner, it chooses one group for all pods that fit it.
//
// Every type that a pool may buy is a node group here. Real configurations have fewer
// groups, so the imitation can choose cheaper nodes than they allow.
package autoscaler
