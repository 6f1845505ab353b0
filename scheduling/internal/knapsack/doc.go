// Package knapsack looks for the pods that are worth most on one machine.
//
// [Search] knows that pods are whole: it is a dynamic program, and what it says is a proof. [Relaxed]
// cuts them into pieces, in floating point: by its values of resources a search tells early
// what leads nowhere.
package knapsack
