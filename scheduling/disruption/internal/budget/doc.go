// Package budget reads the disruption budgets of NodePools (spec.disruption.budgets).
//
// It owns which budgets are active at a time, and how many nodes they allow to be unavailable at once for a reason, as
// in Karpenter. It promises that a budget which cannot be read allows no node. It does not know how many nodes of a pool
// are unavailable already, nor PodDisruptionBudgets (package eviction).
package budget
