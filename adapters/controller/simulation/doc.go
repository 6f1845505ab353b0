// Package simulation is a cluster and a cloud in simulated time, to run autoscalers in without either: for tests,
// demonstrations and comparisons. Equal options and equal calls give equal events.
//
//	world.go      events of time that no autoscaler causes
//	workload.go   services with a daily wave, and batch jobs
//	cluster.go    the API server, the controllers of pods and PodDisruptionBudgets, and kube-scheduler; an Evictor
//	cloud.go      machines, which take a minute to start; spot prices that move, and spot machines that are interrupted; a Provider
//	drain.go      nodes that are drained and terminated, for autoscalers that leave that to others
package simulation
