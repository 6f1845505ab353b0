// Package binding simulates kube-scheduler with its default profile or another scoring strategy: in which order it takes
// the pods of a compiled problem, which nodes its filters admit, how it scores them, and so
// where pods end up that nobody tells where to go. Package verify has a simulation of its own to judge plans.
//
//	scheduler  the parts that do not change: classes of pods and kinds of nodes as the plugins score them, the queue
//	run        one course of events: nodes join, pods come and go
//	bind       pods of a queue are bound wherever kube-scheduler likes
//	fit        the score of NodeResourcesFit, by its strategy
//	score      the plugins' scores, normalised and weighted
//
// The filters are those of package cluster, of which each run has a state.
//
// Preemption is not simulated, nor are the scores of volumes, images and devices.
package binding
