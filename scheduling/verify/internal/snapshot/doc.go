// Package snapshot looks a problem up by name and says by the rules of kube-scheduler and
// Karpenter what each pod needs, what each node has, and what pools may buy. It shares no code
// with the solver: labels are maps, quantities are numbers without a size limit, and every rule
// is a plain loop.
package snapshot

// A map of this package's files
//
//	state        the problem looked up by name, and pods
//	podreader    pods with the objects that they refer to
//	amounts      sums without a size limit
//	requests     resources that pods request
//	ports, taints  host ports that clash, and taints that keep pods off
//	labels       node selectors and node affinity, on labels that are open, too
//	storage, volumes  claims, and where their volumes may be
//	terms        topology terms of pods, and the pods that they select
//	meant        pods that terms and preferences of other pods select
//	workload     pods of one controller or of the same Services
//	node         nodes that run, and nodes that pools may launch
//	daemons      DaemonSets, and the nodes on which their pods run
//	types        what instance types have, and their labels
//	pool         NodePools, and what they may launch
//	policy       what the settings of a plan allow, and what they keep low
