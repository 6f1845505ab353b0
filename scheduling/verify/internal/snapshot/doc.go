// Package snapshot looks a problem up by name and says by the rules of kube-scheduler and
// Karpenter what each pod needs, what each node has, and what pools may buy. It shares no code
// with the solver: labels are maps, quantities are numbers without a size limit, and every rule
// is a plain loop.
package snapshot

// A map of this package's files
//
//	state        the problem looked up by name, and pods
//	amounts      sums without a size limit
//	requests     what pods take, their host ports, and taints
//	labels       what pods ask of labels, those too that a pool leaves open
//	storage, volumes  claims, and where their volumes may be
//	terms        rules between pods, and whom they are about
//	meant        pods that depend on others, or others on them
//	workload     pods that belong together
//	node         nodes that run, nodes that pools may buy, and the daemons there
//	pool         NodePools, and what they may buy
//	policy       what the settings of a plan allow, and what they keep low
