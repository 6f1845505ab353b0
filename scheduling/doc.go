// Package scheduling holds the input and output types of decisions about nodes and pods, their
// JSON, and the checks of their shape. It decides nothing. Package provisioning decides which nodes
// to launch for pending pods, package disruption which nodes to remove, and package verify judges
// both.
//
// A [Problem] holds the pods, the [NodePool]s, the instance-type catalog, the existing nodes with
// their pods, and the DaemonSets. A [Policy] holds the settings. A [Plan] holds the launches with
// their ranked options, the placements on existing nodes, and for every pod without a place the
// [ReasonCount]s that rule out nodes and offerings, and the smallest changes that would place it
// ([Change]); its [Summary] states the price, a lower bound on the price of any plan, and the
// [certificate.Certificate] that proves it. A [Delta] changes a problem.
// Package explanation has the answers about single pods, nodes and launches of a plan.
//
// # Promises of every plan
//
// Every pending pod stands exactly once under launches, existing nodes or unschedulable pods. Every
// option of a launch holds all pods of the launch beside its daemons, and can be launched in place of
// the first without breaking a limit or a reservation, because a provider may fail to deliver the
// first. Inputs are not changed. The same problem and effort give the same plan, byte for byte,
// whatever the order of the input and the number of processors; only a deadline can change the
// plan, which then says so ([StatusDeadline]).
//
// # Order of decisions
//
// In this order: pods of higher priority are placed before pods of lower; pools of higher weight
// are used before pools of lower ([WeightPolicy]), pools whose PreferNoSchedule taints a pod
// tolerates before other pools; then the lowest price under the [offerings.Ranking]; then the
// fewest nodes; then names.
//
// Settings replace the goal of the lowest price: filters of instance types, bounds on their size
// ([NodeSize]), no spot, a bound on the share of a workload on one node, a least number of spot
// options ([Flexibility]), and costs of nodes ([Policy.NodeOverhead]) and of interruptions
// ([InterruptionCost]), which then count as part of the price. provisioning.Planner.Alternatives
// compares the best plans for several goals.
//
// # Where Kubernetes and Karpenter differ
//
// Constraints that kube-scheduler enforces hold as it enforces them. Limits and reservations are
// counted exactly, within one plan. A pod that is alone on a node may use any pool that fits,
// whatever the order of required affinity terms. Labels that no type of the catalog defines, and
// that are well known, are left to the provider: a pool or pod may require them, and the launch
// passes the requirement on, with a warning.
package scheduling
