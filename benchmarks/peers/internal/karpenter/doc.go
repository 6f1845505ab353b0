// Package karpenter runs Karpenter's own scheduler, as it is published, on our
// problems. It reimplements no decision: it translates a problem into Karpenter's types,
// calls the constructors that Karpenter's provisioner calls, with the provisioner's
// options, and reads the node claims back.
//
// A node claim is a list of instance types, of which the cloud provider chooses one. Its
// price here is that of the cheapest offering that it allows and that holds its pods: no
// provider can do better.
//
// Karpenter's own disruption methods run here too, on clusters ([Consolidation]): their
// commands are carried out in memory, so that the next round begins at once.
package karpenter
