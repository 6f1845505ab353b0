// Package packing implements the textbook heuristics first-fit and best-fit decreasing. Its
// view of a problem, [Shop], also serves the imitation of Cluster Autoscaler.
//
// It supports requests, daemons, labels, taints and prices. Problems with limits,
// minValues, weights, reservations or constraints between pods are refused, because it
// would solve them wrongly.
package packing
