// Package scheduling decides which machines to buy for pending pods, and which pods
// go onto each, at the lowest price it can find and with a proof of how low a price
// could be.
//
// A [Problem] holds the pods, the NodePools, the instance-type catalog, the nodes
// that run and their pods, and the DaemonSets. [Solver.Solve] returns a [Plan]:
// launches with ranked options, placements on existing nodes, and for every pod
// that fits nowhere the reasons, counted over all options, and the smallest changes
// that would place it ([Change]). The zero Solver works. [Solver.Explain] answers
// questions about a plan: why a launch buys what it buys and what others would cost,
// where else a pod could go, what a node receives. A [Session] holds a problem that
// changes all the time, and plans again at the price of what has changed.
//
// # How a plan comes about
//
//	validate   every fault of the input at once, each with the path of its field
//	classes    pods between which nothing that scheduling reads differs become one
//	           class, so that the cost of a solve follows classes and not pods
//	templates  a NodePool with a value chosen for every label that it leaves open
//	           and that some pod asks about
//	offers     instance type × offering, with its labels as columns; which pods
//	           and daemons may go where is worked out in bit rows over them
//	options    offers with the same room (after daemons), the same admitted pods and
//	           the same share of limits are one option to the search; one that
//	           another makes pointless is left out
//	search     existing nodes first, then machines bought for the most worth per
//	           price, then improvement within the effort
//	decode     each launch gets all offers that hold its pods, in rank order
//	bound      what the pods are worth at most, by their requests and class by class;
//	           the higher bound counts, see [Certificate]
//
// # What holds for every plan
//
// Every pending pod stands exactly once under launches, existing nodes or
// unschedulable pods. Every option of a launch holds all pods of the launch beside
// the daemons that will run there; any one of them can be bought in place of the
// first without breaking a limit or a reservation. Inputs are not changed. The same
// problem and effort give the same plan, byte for byte, whatever the order of the
// input and the number of processors; only a deadline that passes can make a
// difference, and the plan then says so ([StatusDeadline]).
//
// # From one plan to the next
//
// A [Session] keeps what it knows of pods, nodes and offers while a [Delta] after the
// other changes them. [Session.Solve] gives the plan that [Solver.Solve] would give for
// [Session.Problem], byte for byte. Kept are: the offers of a catalog in rank order with
// their labels; what pods of one mould ask for; each node with what its pods take, until
// one of them changes; the room that nodes have left, until daemons, pools, catalogs or
// the resources that pods ask for change; and what may be bought for the same constraints.
// [Session.Fork] answers what-if questions: a fork shares all this with the session and
// goes its own way.
//
// # What decides
//
// In this order: pods of higher priority are placed before pods of lower; pools of
// higher weight are used before pools of lower ([WeightPolicy]), pools that a pod
// has no PreferNoSchedule taint against before those that it has; then the lowest
// price under the [offerings.Ranking]; then the fewest machines; then names.
//
// Who wants something else than the cheapest plan says so by the settings: machines of
// some sizes only ([NodeSize]), no spot, a bound on the share of a workload that one
// machine holds, choice among spot machines ([Flexibility]), or that interruptions cost
// something ([Interruption]), which then count as part of the price.
// [Solver.Alternatives] compares the best plans for several goals ([Goal]).
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
