// Package regions tells from nodes, volumes, NodePools and node classes in which region a cluster is, or
// at least of which cloud, and which catalog is meant by that.
package regions
