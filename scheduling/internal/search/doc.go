// Package search looks for a plan of a compiled problem: for pods with topology terms the
// domains first, by package topology, and then machines by package pack; and again with
// other domains while that pays. It writes a solution down as launches with ranked options
// and placements by name, and makes sure that all pods bind in whatever order
// kube-scheduler takes them.
package search
