// Package snapshot looks a problem up by name: pods with their demands, nodes with their room, NodePools with the machines
// that they may launch, all by the rules of kube-scheduler and Karpenter. It owns these objects, changes none of the
// problem's, and describes each once; nodes and pods come and go by its functions alone. Requests of pods and the form of node affinity come from k8s.io/component-helpers; it
// shares no code with the solver: labels are maps, quantities are numbers without a size limit, and every rule is a plain
// loop. It does not know plans, nor the order in which pods bind.
package snapshot

// A map of this package's files
//
//	state        the problem looked up by name, and pods
//	changes      nodes and pods that come and go
//	podreader    pods with the objects that they refer to
//	amounts      sums without a size limit
//	requests     resources that pods request
//	ports, taints  host ports that clash, and taints that keep pods off
//	filter       the filters of kube-scheduler about one pod on one node
//	labels       node selectors and node affinity, on labels that are open, too
//	storage, volumes  claims, and where their volumes may be
//	terms        topology terms of pods, and the pods that they select
//	selected     pods that terms and preferences of other pods select
//	workload     pods of one controller or of the same Services
//	spotpolicies pods that SpotPolicies keep off spot nodes
//	node         nodes that run, and nodes that pools may launch
//	daemons      DaemonSets, and the nodes on which their pods run
//	types        what instance types have, and their labels
//	pool         NodePools, and what they may launch
//	policy       what the settings of a plan allow, and what they keep low
