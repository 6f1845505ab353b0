// Package rebuild plans a cluster from scratch: some nodes are gone and their pods are pending.
//
// It owns the problem of that cluster, with the offerings of the nodes that are gone on sale again, and the policy for it.
// The price of its plans is what a search for savings aims at, and their certificate proves the least price. It does not
// know which nodes may go, nor how to get there in steps.
package rebuild
