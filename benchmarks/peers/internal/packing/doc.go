// Package packing holds the textbook: first-fit and best-fit decreasing. Its view of a
// problem, [Shop], also serves the imitation of Cluster Autoscaler.
//
// It knows requests, daemons, labels, taints and prices. Problems with limits,
// minValues, weights, reservations or constraints between pods are refused rather than
// solved wrongly.
package packing
