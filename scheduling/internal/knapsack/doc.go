// Package knapsack finds the pods of most value on one machine: the pricing problem of column generation.
//
// [Search] has whole pods: it is a dynamic program in integers, and its outcome is a proof. [Relaxed] is its
// linear relaxation in floating point; its resource duals let a search drop hopeless states early. The package
// knows one machine and neither prices nor the master problem.
package knapsack
