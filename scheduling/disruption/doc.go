// Package disruption decides which running nodes to remove or replace, in which order, and
// what that saves. It reads a [Cluster] and makes a [Plan]; it touches nothing.
//
//	plan, err := disruption.Planner{}.Plan(ctx, cluster)
//
// # What a plan is
//
// A plan is a list of steps and, for every node, a [Verdict]. A [Step] is one safe change: machines to launch and
// wait for, pods to evict and where each is expected to land, nodes to remove. Steps are carried out one after the
// other. Each needs those before it and none after it, so a plan may be left after any step; [Planner.MaxSteps]
// ends it early, and [Planner.Steps] hands steps out as they are found. Nodes that stay say why, in codes for
// programs and words for people, with the best move that was found and not made.
//
// Within a step, evictions go in waves. The pods of a wave are away at the same time, and no PodDisruptionBudget
// loses more of them than it allows; the next wave leaves when they run again. Pods without a budget go in the
// first wave, unless rules tie them to others: these go last. Where pods that leave in turns are spread or keep
// apart, they leave in an order in which each may land; a step for which there is none is not made. Interrupted
// machines lose all their pods at once.
//
// Where kube-scheduler binds evicted pods as it likes ([scheduling.PlacementFree]), they are expected where a
// model of it binds them, step by step; a step that leaves one without a place is not made: pods that would find
// none leave before the others, or, where no other node could go, onto a machine that is bought for them.
// [Plan.Cordon] names the nodes to close from the start, so that no pod lands on one that goes later. Steps begin
// where pods then are, so that the price after them is the bill, but for the order in which kube-scheduler takes
// the pods of a wave, and its choice among nodes that it holds to be equal: [Summary.Realised] plays them with
// others. On thirty clusters of 31 to 106 nodes that had lost half of their pods, such plans were 3.0 % dearer
// than where pods go where they are told, and came to 1.0 % more when the real kube-scheduler carried them out;
// plans that expect pods where they are told came to 4.3 % more. On six of 40 nodes of many shapes that were never
// packed well they were 14 % dearer. What is left to save where pods have landed elsewhere is not part of a plan, as
// pods would move twice: the next one found 2.3 % in the mean of 24 clusters, and the one after that next to nothing.
//
// No step buys beyond the limits of a NodePool. Nodes that it removes do not count, as for Karpenter, though they are
// there until their pods have left.
//
// A step tells its risks ([Risk]): what a careful person asks before carrying it out.
//
// Plans depend on nothing but their input: no clock is read ([Planner.Now]), and lists may come in any order. A
// plan is for the cluster as it was given. Whoever carries it out plans anew when the cluster has changed, which
// also is how failures are dealt with. Steps that have begun by then are input ([Cluster.Underway]).
//
// # The order of reasons
//
//	interrupted    all machines with a notice, in one step. They go whatever stands in
//	               their way; a pod that has no place leaves without one, and the plan
//	               warns of it. Launches are waited for as long as the notice lasts.
//	expired        nodes past expireAfter, the oldest first
//	drifted        nodes that are no longer what their pool asks for, as [Verdict.Drift]
//	               says: empty ones, then those that drifted first. What a catalog
//	               lacks is no drift unless it is live ([Planner.LiveCatalog])
//	empty          all nodes without pods but daemons', as many in a step as budgets allow
//	underutilized  nodes whose pods cost less elsewhere: any number of nodes by any
//	               number of launches
//	misplaced      pods that break a rule where they are ([Planner.Rebalance])
//
// Expired and drifted nodes go one by one, each with machines for its own pods, or, where that costs less, onto machines
// that hold the pods of all of them for the least, in steps as small as may be: a step may then buy more than its nodes
// need, for those of the next. A cluster that drifts as a whole, as with a new image, is built anew that way.
//
// Nodes that are about to go for one of the first three take in no pods of others. In clusters of less than 1,000
// nodes what saves something is tried out before its first step is certain, and the next plan with it, as it would
// be when consolidateAfter has passed. Where that one would save something, this goes at once to where both lead,
// so that no pod moves twice, or does afterwards what nodes allow that have taken in no pods. What is left, or has
// come to be possible only by the steps, follows in the same plan, as far as consolidateAfter allows: where a node
// holds the only machine of a reservation, its pods go to another machine, and back when the first is gone. Only
// pods that had to move for one of the first three reasons may move a second time.
//
// A node that is drained is there until its last pod has left. Pods that it keeps out of other hosts until then, by
// spread constraints, land when it is gone. Zones and other domains that a NodePool offers count for spread even then,
// whatever limits leave to be bought there, and unlike for kube-scheduler: or else pods that are spread over zones would
// be moved into one of them, zone by zone.
//
// # What holds nodes back
//
// For drifted, empty and underutilized nodes: that they are not initialized, are going already, expect pods, or
// belong to no pool that is there; do-not-disrupt on the node, or on a pod that has not ended, where do-not-evict
// and Cluster Autoscaler's safe-to-evict "false" count as well; a pod whose PodDisruptionBudget allows nothing, or
// that has two. A termination grace period lets drift pass over pods. For empty and underutilized nodes also the
// pool's policy, consolidateAfter and [Planner.MinLifetime]; to save, a price that is not known.
// [Planner.KeepBarePods] adds pods that have no controller, for drifted nodes as well. See [CauseCode].
//
// # Budgets
//
// A pool's budgets bound how many of its nodes a step removes: the least of those that are
// about the reason and in force. Percentages are of the nodes that are initialized, as they
// stand before the step, rounded up; nodes that are not ready or going already are taken
// off. What is to be saved by more nodes at once is done part after part, each of which
// saves something, where there are such parts. Windows are read in UTC. Expiry and
// interruption ask no budget. How many pods a PodDisruptionBudget lets go is taken from its
// status, if its controller has seen the object as it is; otherwise it is counted from the
// pods by the controller's rules.
//
// # What a move has to be worth
//
// Prices are expected ones: what nodes cost beside their machines counts, on nodes that go and
// on those that come ([scheduling.Policy.ExpectedPrice]). A step for Underutilized saves something, and all that [Planner.MinSaving] asks for,
// whichever options of its launches are bought: options that would cost too much are left
// out. Where one spot machine is to replace another, there have to be enough cheaper types
// ([Planner.SpotToSpotTypes]). In pools with policy Balanced, the share of the pool's price
// that is saved has to be at least 1/k of the share of its disruption cost that is spent
// ([Planner.BalancedK]).
//
// # What is left to save
//
// [Summary.LowerBoundPerHour] is proven, for clusters that keep the nodes which may not go.
// [Summary.Rebuilt] is what was found when all may go but those of [Machine.MustStay]. [Planner.Blocked] tries what the cluster
// would save beyond a plan without each of the causes for which nodes stay.
//
// # What differs from Karpenter
//
// Karpenter makes one move, waits, and looks again; a plan shows all moves. One search
// looks at sets of nodes of any size, of all pools, and may buy several machines, where
// Karpenter removes single nodes or the first so many of a list and buys one machine at
// most. Expired nodes are replaced before they go. A price that is not known is not zero. A
// node whose pods count nothing is not empty. A budget that cannot be read is an error
// instead of silently holding everything. Spot may be replaced by spot without a feature
// gate. Nodes of static pools are left to their controller. scheduling/doc/conformance.md
// goes through all of it, line by line.
package disruption

// A map of this package's files, from the ground up: files refer to those of their own part and of
// parts before it. A name with a star stands for all files that begin so.
//
// The words
//
//	cluster      what runs, and the settings
//	step         a step, its reason and its risks, and why nodes stay
//	plan         the plan and what it comes to
//
// The cluster as it stands after some steps
//
//	budget       how many nodes of a pool may go; internal/eviction tells what pods ask for, and how
//	             many of them PodDisruptionBudgets let go
//	validate     every fault of what goes in
//	deadline     whether there is time
//	state, take, sessions   nodes, pods and pools; a step carried out; the sessions for what-ifs
//	candidates, blockers    nodes that a reason is about, and what keeps them where they are
//	minnodes     which nodes of a pool stay where it keeps so many
//	capacity     whether pods could fit, in round figures, before anything is tried; internal/room fills
//	             rooms, and chooses among them
//	price, admit what a move disrupts, saves, and has to save
//	simulate     where pods would be if nodes were gone
//	landing      where kube-scheduler binds the pods of a step
//	waves        the order in which they leave; internal/landing tells whether each may land
//
// What would be cheaper, and the way there
//
//	target*, composition  the cluster bought afresh, as an aim and as a bound; what it consists of
//	search, moves  a cheaper cluster for the same pods
//	keepset      which nodes stay, where many go at once
//	ordering*    the steps that lead to the cheaper cluster
//
// The run that makes a plan
//
//	run          Planner.Plan, and the steps that are made
//	pending      what becomes of pods that have no node yet
//	shorten      a plan that ends after its first steps
//	forced       interrupted, expired, drifted and empty nodes
//	consolidate  steps that save something
//	rebalance    pods that break a rule where they are
//	lookahead    the next plan, made in advance, and what this one does of it
//	risks, summary  what the steps come to, and what they leave
//	realise      what they come to where kube-scheduler chooses otherwise among equal nodes
//	verdict      why each other node stays, and the best moves that were not made
//	blocked, unblock        what each cause keeps the cluster from saving; the cluster without it
