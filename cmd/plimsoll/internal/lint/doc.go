// Package lint finds objects of a cluster that raise its price, or that do not have the effect for
// which they were written.
//
//   - lint.go: findings, and the checks in turn
//   - nodepools.go, overlaps.go, spot.go: NodePools that cannot be met, overlap, or leave little choice of spot
//   - pods.go: pods without requests, missing DaemonSets, PodDisruptionBudgets that allow no eviction
//   - sizes.go: requests that force a size up, and requirements of NodePools that exclude cheaper instance types
//   - trials.go: the plans of the whole cluster with which savings are tried, one on top of the other
package lint
