// Package steps judges a disruption.ConsolidationPlan by carrying it out. It owns the cluster as it stands between two steps,
// and promises that each step is judged by the steps before it alone, so that a plan that passes is right wherever it is
// broken off. It changes neither cluster nor plan. The rules about launches and about pods on nodes are those of package
// launchplan. It does not know how a planner finds steps, nor whether other steps would save more.
package steps

// A map of this package's files
//
// The cluster
//
//	cluster      nodes, pods and budgets as they stand between two steps
//	node, pods   a node with its machine; which pods are rescheduled or evicted
//	reasons, rules  nodes that may go: reasons, expiry, drift
//	costs        prices and disruption costs
//	room         virtual pods, which have room on nodes before the first step
//	poddisruptionbudgets, nodepoolbudgets  how many pods and nodes may be away at once
//	spotshare    how many pods of each SpotPolicy are on spot nodes after each step
//	binding      pods that bind, beside nodes that are being removed already
//
// Checks of a step, in the order in which it is judged, and of the whole plan
//
//	audit        the plan, and its steps one after the other
//	step         a step with its nodes and moves
//	drain        the step's statements, and nodes that may go: annotations, policies and times
//	moves, domains  evictions with the nodes that they go to, and domains that go on counting
//	budgets      the step's use of budgets
//	worth        savings, disruption cost and score
//	waves        pods that leave and bind in waves
//	verdicts     the verdict on each node, and the sums of the whole plan
//	bound        the lower bound
