// Package karpenter runs Plimsoll's planners within Karpenter, in the place of its own decisions about launches, drift and
// consolidation. Everything else stays Karpenter's: its API, cloud providers, state of the cluster, batches, NodeClaims, the queue
// that carries disruption commands out, termination, metrics and events.
//
// [NewControllers] takes the place of Karpenter's function of that name in the main function of a build. The parts can be
// used by themselves:
//
//	catalog.go       Catalog: instance types of a cloud provider as a catalog
//	cluster.go       Reader, Snapshot: Karpenter's state of a cluster as input of the planners
//	faults.go        objects that the planners refuse are left out of a snapshot
//	claims.go        Snapshot.NodeClaims, Snapshot.Results: launches as Karpenter's scheduling has them
//	provisioner.go   Provisioner: the controller for pending pods
//	triggers.go      the controllers that tell it of pods and nodes
//	method.go        the methods of the disruption controller for drift and consolidation
//	controllers.go   NewControllers, Settings.Exchange, Provisioner.DisruptionMethods
//
// # Pending pods
//
// Karpenter's provisioner finds the pods and refuses those that it does not support; pods of nodes that are being removed count
// as pending. A pod keeps the node that it was nominated to while that node starts. The launches of the plan
// become NodeClaims through Karpenter's CreateNodeClaims. A NodeClaim lists the options of its launch, at most
// Policy.MaxOptions, and allows no other offering.
//
// # Disruption
//
// Karpenter's controller finds the candidates and counts budgets. A plan is made for the candidates of a reason, all other nodes
// stay. Those steps from its beginning that need not wait for each other become commands at once, with several
// replacements where the step has them; the queue taints, launches, waits, deletes, and takes back. The rest is planned anew when
// the cluster has changed. Empty nodes and nodes of static NodePools go by Karpenter's own methods.
package karpenter
