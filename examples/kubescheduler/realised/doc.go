// Package realised finds out what a plan costs once the real kube-scheduler has bound
// the pods.
//
// A plan says which pods go onto each machine. kube-scheduler does not know that: it
// binds pods one by one to whichever node scores best, and now and then a pod that had
// its place finds the room taken. Then more has to be bought. A [Loop] plays that
// through: it plans, lets the machines join, has kube-scheduler bind the pods, and plans
// again for those that found no node, until every pod has one. The realised price is
// that of all machines bought by then.
//
// How it ends depends on the order in which pods were made and machines join: see [Way].
// [Mixes] are problems to try it on; command realise prints a table of them.
package realised
