// Package drift finds how a node differs from what its NodePool asks for now, as Karpenter's NodeClaim controller does.
//
// It owns the kinds of drift and their order: the hash of the pool's template, the pool's requirements, a type that the
// provider no longer offers, the provider's own reason. It does not know whether a node may be replaced for it.
package drift
