// Package launchplan judges a scheduling.Plan: its launches, the nodes that receive pods, nominations, limits, volumes,
// topology terms, summary and lower bound. It owns the verdict on one plan, and reports every rule that the plan breaks at
// every object, in the order of the plan. It changes neither problem nor plan. Package steps has the launches and moves of
// each consolidation step judged here, too. It does not know steps, nor how a planner finds a plan.
package launchplan

// A map of this package's files, in the order in which a plan is judged
//
//	audit        the plan, and its checks one after the other
//	lists        each pending pod stands once, and reasons are given for pods that are not placed
//	nominations  pods that are nominated to a node stay there unless they cannot
//	launch       a launch with the objects that it names
//	launches, options, flexibility  whether it may be launched, whichever option is taken
//	existing     running nodes that receive pods, and whether pods fit on a node
//	limits, workloads  what pools, reservations and shares of workloads allow of all together
//	spotshare          how many pods of each SpotPolicy are on spot nodes
//	claims       volumes that pods share
//	option_terms options that topology terms could tell apart
//	summary      the sums
//	comparison   the prices of plans without virtual pods and without SpotPolicies
//	refusals, simulation  whether a node or a machine has a place for a pod that is not placed
