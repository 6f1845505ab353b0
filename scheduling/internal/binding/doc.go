// Package binding simulates kube-scheduler with its default profile or another scoring strategy: in which order it takes
// the pods of a compiled problem, which nodes its filters admit, how it scores them, and so
// where pods end up that nobody tells where to go. It is the one model of kube-scheduler
// that plans are made with; package verify has its own for what it judges.
//
//	scheduler   what does not change: classes of pods as the plugins read them
//	machine     a kind of node: whom it admits, its labels, its room
//	run         one course of events: nodes join, pods come and go
//	bind        pods of a queue are bound, wherever they like or each where it is told
//	fit         the score of NodeResourcesFit, by its strategy
//	score       the plugins' scores, normalised and weighted
//	topology    counts of pods by domain, for spread and affinity between pods
//	refusal     why topology terms keep a pod off a node, as the pods stand now
//	system_spread  the spread that kube-scheduler asks for by itself, of pods of one workload
//
// Preemption is not simulated, nor are the scores of volumes, images and devices.
package binding
