// Package scheduling decides which machines to buy for pending pods, and which pods
// go onto each, at the lowest price it can find and with a proof of how low a price
// could be.
//
// A [Problem] holds the pods, the NodePools, the instance-type catalog, the nodes
// that run and their pods, and the DaemonSets. [Planner.Plan] returns a [Plan]:
// launches with ranked options, placements on existing nodes, and for every pod
// that fits nowhere the reasons, counted over all options, and the smallest changes
// that would place it ([Change]). The zero Policy works. [Policy.Explain] answers
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
// other changes them. [Session.Plan] gives the plan that [Planner.Plan] would give for
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
// Those who want something other than the cheapest plan say so by the settings: machines
// that filters keep, of some sizes only ([NodeSize]), no spot, a bound on the share of a
// workload that one machine holds, choice among spot machines ([Flexibility]), or that
// nodes cost something beside their machines ([Policy.NodeOverhead]) or interruptions do
// ([Interruption]), which then count as part of the price.
// [Policy.Alternatives] compares the best plans for several goals ([Goal]).
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

// A map of this package's files, by the stage of a solve in which they have their say.
// A name with a star stands for all files that begin so.
//
// What goes in
//
//	problem      pods, pools, catalogs, nodes and what belongs to them
//	nodepool*    NodePools: their fields, reading them, and what is wrong with them
//	duration     the durations of NodePools
//	validate*    every fault of a problem, object by object
//	fielderror   a fault and its path
//	warn         what is odd and not wrong
//
// How to decide
//
//	solver       the settings, the effort, and the order of all that follows
//	effort       what high effort begins with, so that its plans are no dearer
//	size         machines that are too small or too large to be wanted
//	workload     how much of a workload one machine may hold
//	flexibility  how much choice a spot launch has to leave
//	expected, interruption  what machines cost beside their prices
//	alternatives*  the best plans for other goals
//
// Reading pods
//
//	requests, pod_requests  what a pod takes up on a node
//	resources    the resources that pods ask for, as columns of numbers
//	constraint, selector, tolerate, hostports  what a pod asks of its node besides room
//	mould, class pods that are made alike, and pods that scheduling cannot tell apart
//	daemon       what DaemonSets take on each node
//	defaultspread  the spread constraints of the cluster itself
//	volume*      claims, and where their volumes are or may be made
//
// Reading the market and the cluster
//
//	template, variants, levels  a pool with values for the labels that it leaves open
//	offers, floor, thin  what each template may buy, its minValues, and what is pointless
//	assortment   what may be bought for some groups, kept from plan to plan
//	choices      everything on sale, for a bound that tells cases apart
//	existing, roll, bench, cluster, country  nodes, what runs on them, and their labels
//	compile, tables, facts  all of this in the numbers of internal/model
//
// Pods that are tied to each other
//
//	tie, rule, bonds, guards  spreads, affinity and anti-affinity, of pods to be placed
//	             and of pods that run
//	slack        ties that hold wherever pods go
//	unit, part   pods that share a machine, and what the engine takes for one
//	land, partition, kin, guests, guestlists  where each of them could be, and whom the nodes hold
//	             already
//	atlas, census  what of this is remembered from plan to plan
//	strata       what they may buy, sorted by what plans of sites make of it
//	ties, trial, score  a plan of sites, machines for it, and what that is worth
//	nearest      the nodes that pods fill best, remembered from plan to plan
//	near, lodging  the nodes that pods of such a plan could need, and who is on them in all
//	tiedsolve    the rounds of planning sites and finding machines
//	foresee      a bound beforehand, to know when to stop
//	seek, reprice  other sites for a few pods, or other prices for sites
//	afresh, clearing  other sites for all pods, by what machines hold and cost
//	foreign, shun  zones that a spread must not come to count with
//	concede, resign  once more without domains, or without pods, that keep others from a
//	             place
//
// Reading the answer
//
//	decode*      machines and nodes with their pods by name
//	choose       the ranked options of a launch
//	ledger, account  what limits and reservations have left, and what the plan costs
//	lastcall, join  pods that were left out, offered what is left
//	roster, rehearse  which pod goes where, and whether all bind so, whatever their order
//	plan, launchnode  what comes out, and a launch as the node that it becomes
//
// The bound
//
//	prove        which bounds are worth finding, and which is the highest
//	market, buyable, freeroom  pods and machines as the bound knows them
//	homeless     pods that no node holds, where they alone decide about the price
//	loners, yardstick  room that nobody requests by name and every pod takes up
//	zone*, zonalrule  zones told apart, for pods that are spread over them or counted by such
//	certificate* the proof that goes with a plan
//
// Answers to questions
//
//	explain*     why a pod, a launch or a node is as it is
//	reason       the codes of reasons
//	fixes*       the changes that would place a pod
//
// From one plan to the next
//
//	session*, delta  a problem that changes, and its forks
//	memory, notes  what compilers leave to those that come after them
