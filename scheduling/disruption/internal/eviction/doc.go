// Package eviction knows which pods may be evicted: which need another node when theirs is drained, which have
// annotations against disruption, and how many PodDisruptionBudgets let be away at the same time.
package eviction

// A map of this package's files.
//
//	pods      annotations against disruption, and the pods that need another node when theirs is drained
//	budgets   PodDisruptionBudgets, and the pods that they count
//	validate  the faults of PodDisruptionBudgets
