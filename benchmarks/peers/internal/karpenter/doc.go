// Package karpenter runs Karpenter's own scheduler, as it is published, on our
// problems. Nothing of its decision is rebuilt here: the package translates a problem
// into Karpenter's types, calls the constructors that Karpenter's provisioner calls,
// with the provisioner's options, and reads the node claims back.
//
// A node claim is a list of instance types; what it costs is up to the cloud provider
// that fills it. It is priced at the cheapest offering that it allows and that holds
// its pods, which is the best that a provider can do for it.
//
// Karpenter's own disruption methods run here too, on clusters ([Consolidation]): what they
// decide is carried out in memory, so that the next round begins at once.
package karpenter
