// Package lint finds what in a cluster's objects costs more than it has to, or will not do what
// it is there for.
//
//   - lint.go: findings, and the checks in turn
//   - nodepools.go, overlaps.go, spot.go: NodePools that cannot be met, overlap, or leave little choice of spot
//   - pods.go: pods without requests, missing DaemonSets, PodDisruptionBudgets that let nothing go
//   - sizes.go: requests that force a size up, with what a smaller one would save
package lint
