// Package nominated knows the pods that are promised a node: who keeps it, as kube-scheduler counts
// nominated pods, what there is for the others, and who gives way to more urgent ones.
package nominated
