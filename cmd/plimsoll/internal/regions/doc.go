// Package regions tells from nodes, volumes and NodePools in which region a cluster is, and which
// catalog is meant by that.
package regions
