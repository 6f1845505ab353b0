// Package simulation carries a plan out in a model of kube-scheduler (package binding): it says whether each pod binds
// to the node of the plan, and to which nodes kube-scheduler binds the pods in several courses of events, also with the
// constraints of one pod changed.
package simulation
