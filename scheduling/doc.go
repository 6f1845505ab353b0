// Package scheduling is the vocabulary of decisions about machines and pods: what goes in
// and what comes out, how it is written as JSON, and which shape it must have. It decides
// nothing. Package provisioning decides which machines to buy for pods that wait, package
// disruption which nodes to remove, and package verify judges both.
//
// A [Problem] holds the pods, the [NodePool]s, the instance-type catalog, the nodes that run
// and their pods, and the DaemonSets. A [Policy] says how to decide. A [Plan] holds the
// launches with their ranked options, the placements on nodes that run, and for every pod
// that fits nowhere a [Reason] for each thing that keeps it out and the smallest changes that
// would place it ([Change]); its [Summary] states the price, the lowest price that any plan
// could have, and the [certificate.Certificate] that proves it. A [Delta] is what has changed of a problem.
//
// # What holds for every plan
//
// Every pending pod stands exactly once under launches, existing nodes or unschedulable
// pods. Every option of a launch holds all pods of the launch beside the daemons that will
// run there; any one of them can be bought in place of the first without breaking a limit or
// a reservation. Inputs are not changed. The same problem and effort give the same plan, byte
// for byte, whatever the order of the input and the number of processors; only a deadline
// that passes can make a difference, and the plan then says so ([StatusDeadline]).
//
// # What decides
//
// In this order: pods of higher priority are placed before pods of lower; pools of
// higher weight are used before pools of lower ([WeightPolicy]), pools that a pod
// has no PreferNoSchedule taint against before those that it has; then the lowest
// price under the [offerings.Ranking]; then the fewest machines; then names.
//
// Those who want something other than the cheapest plan say so by the settings: machines
// that filters keep, of some sizes only ([NodeSize]), no spot, a bound on the share of a
// workload that one machine holds, choice among spot machines ([Flexibility]), or that
// nodes cost something beside their machines ([Policy.NodeOverhead]) or interruptions do
// ([Interruption]), which then count as part of the price.
// provisioning.Planner.Alternatives compares the best plans for several goals.
//
// # Where Kubernetes and Karpenter differ, and what is done here
//
// What kube-scheduler enforces is enforced as it does it. Limits and reservations
// are counted exactly, within one solve. A pod that would be alone on a machine may
// use any pool that fits, whatever the order of required affinity terms. Labels that
// no type of the catalog defines, and that are well known, are taken to be the
// provider's affair: a pool or pod may ask for them and the launch passes the wish
// on, with a warning.
package scheduling
