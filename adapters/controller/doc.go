// Package controller runs Plimsoll's planners against a cluster that changes: the part of an autoscaler between the
// watch events of the API server and the calls to a cloud.
//
// A [Controller] is told which objects the cluster has (Upsert, Delete, Resync; package informers does that with
// client-go). Each Reconcile plans nodes for pending pods, orders machines from a [Provider], and carries out the
// steps of consolidation plans through an [Evictor]. It owns three lists: the machines that it has ordered and that
// have no node yet, the nodes that pending pods wait for, and the steps under way. None of them has to be stored:
// after a restart the machines come from [Provider.Machines], a step under way is left where it was (each prefix of a
// plan is safe) and its nodes are uncordoned, and the next plan goes on from the cluster as it is then.
//
// # What happens in a Reconcile
//
//	events      objects that changed since the last call go to the session, in one change; an object that is
//	            malformed is left out and reported, and does not keep the others out
//	machines    the provider lists its machines: orders whose answer was lost are found again, machines without a
//	            node after RegistrationTimeout are terminated, and so are machines whose node was deleted
//	pods        when new pods have come and BatchIdle has passed, all pending pods are planned; a machine is ordered
//	            for each launch, by the first of its options that can be had
//	disruption  at once on an interruption notice, otherwise every DisruptEvery while no step is under way
//	steps       launch, wait until the nodes are ready, evict wave by wave, terminate; pods of interrupted nodes are
//	            evicted at once, as fast as PodDisruptionBudgets allow
//	nominations the [Nominator] is told the nodes of pending pods, and [StartupTaint] is removed from these nodes
//	taints      nodes that steps will remove have the taint [Taint], all others have it no longer
//
// # Time
//
// Timeouts count the time that passes between calls, at most one minute for each call, so that a clock that jumps
// ends no launch and keeps none alive. Schedules of disruption budgets and expiry read the clock.
package controller
