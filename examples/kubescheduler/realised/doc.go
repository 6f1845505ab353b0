// Package realised finds the price of a plan once the real kube-scheduler has bound
// the pods.
//
// A plan says which pods go onto each machine. kube-scheduler does not know the plan: it
// binds pods one by one to whichever node scores best, and some pods find the room on their
// planned node taken. Then more machines are bought. A [Loop] plays that through: it plans,
// lets the machines join, has kube-scheduler bind the pods, and plans again for pods
// without a node, until every pod has one. The realised price is that of all machines
// bought by then.
//
// The result depends on the order in which pods were made and machines join: see [Way].
// [Mixes] are problems to try it on; command realise prints a table of them.
package realised
