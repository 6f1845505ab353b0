// Package nominated knows the pods that are nominated to a node (status.nominatedNodeName): which of them keep it, because
// kube-scheduler counts them there, which lose it, and which give way to pods of higher priority.
package nominated
