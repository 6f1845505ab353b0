// Package eviction knows what pods are to eviction: which have to live on elsewhere, which ask not
// to be disrupted, and how many of them PodDisruptionBudgets let be away at the same time.
package eviction

// A map of this package's files.
//
//	pods     what a pod asks for, and what becomes of it when its node is drained
//	budgets  PodDisruptionBudgets, and the pods that they count
