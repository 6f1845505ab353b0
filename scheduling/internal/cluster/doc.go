// Package cluster is the state of a cluster as kube-scheduler's filters see it: the nodes with their labels, taints and
// room, and how many pods each topology term counts in each domain. Nodes join and leave, pods are placed and removed,
// and the state says whether a pod may be on a node, and if not, why.
//
// A [Model] holds the parts that do not change: the classes of pods of a compiled problem, their topology terms, and the
// kinds of nodes. A [State] is one course of events over a model. It can be forked, and every change can be taken back
// by the opposite change.
//
//	model          classes, kinds of nodes, the nodes and pods that are there at first
//	kind           kinds of nodes: which classes they admit, their room
//	terms          topology terms, read as counters of pods by domain
//	running        the pods that run already, with the terms that they hold
//	system_spread  the spread that kube-scheduler asks for by itself, of pods of one workload
//	state          nodes join and leave, pods come and go
//	counts         numbers by domain, shared between forks until they change
//	domains        the domains of nodes that may join, and the pods that a term counts in each domain
//	refusal        why a topology term keeps a pod off a node
//
// The scores by which kube-scheduler chooses among the nodes that it may use are not part of a state: see package
// binding. Terms that may be broken are read here all the same, because the scores need their counts.
package cluster
