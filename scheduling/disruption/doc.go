// Package disruption decides which running nodes to remove or replace, in which order, and how much that saves. It reads
// a [Cluster] and returns a [ConsolidationPlan]; it changes nothing and calls no API.
//
//	plan, err := disruption.Planner{}.Plan(ctx, cluster)
//
// It owns the candidates, the moves, the disruption budgets and the order of steps. Where the pods of a node can go, and
// which nodes to launch for them, it asks of package provisioning; where kube-scheduler would bind them, of a model of
// kube-scheduler. It does not know how steps are carried out, nor whether they succeeded: the next plan is made from the
// cluster as it is then.
//
// # Steps
//
// A plan is a list of steps and, for every node, a [Verdict]. A [Step] is one safe change: nodes to launch and to wait
// for, pods to evict with the node where each is expected, nodes to remove. Steps are carried out one after the other.
// Each needs the steps before it and none after it, so a plan may be left after any step; [Planner.MaxSteps] ends it
// early, and [Planner.Steps] yields steps as they are found. For a node that stays the verdict has the causes, as codes
// for programs and as text for people, and the best move that was found and not made.
//
// Within a step, evictions go in waves. The pods of a wave are away at the same time, and no PodDisruptionBudget loses
// more of them than it allows; the next wave leaves when they run again. Pods without a budget go in the first wave,
// unless topology spread or pod affinity ties them to other pods: these go last. Pods of several waves that spread or keep
// apart leave in an order in which each can be scheduled; a step without such an order is not made. Interrupted nodes
// lose all their pods at once.
//
// Where kube-scheduler binds evicted pods ([scheduling.PlacementFree]), pods are expected where a model of it binds them,
// step by step. A step that leaves a pod without a node is not made: such pods are tried as the first to leave or, if no
// other node could go, a node is launched for them. [ConsolidationPlan.Cordon] names the nodes to close from the start, so that no
// pod is bound to a node that is removed later. Each step begins where pods are bound by then, so that the price after the
// steps is the bill, except for two choices of kube-scheduler: the order in which it takes the pods of a wave, and the
// node among several of the same score. [ConsolidationSummary.AfterScheduling] plays the steps with other choices. On thirty clusters of 31
// to 106 nodes that had lost half of their pods, these plans were 3.0 % more expensive than with [scheduling.PlacementPinned], and
// cost 1.0 % more when the real kube-scheduler carried them out; plans for pinned pods then cost 4.3 % more. On six
// clusters of 40 nodes of many shapes that were never packed well they were 14 % more expensive. Savings that remain because pods
// were bound elsewhere are not part of a plan, because pods would move twice: the next plan found 2.3 % in the mean of 24
// clusters, and the one after that almost none.
//
// No step launches beyond the limits of a NodePool. Nodes that the step removes do not count for them, as in Karpenter,
// though they run until their pods have left.
//
// A step has a list of risks ([Risk]): the questions that a careful operator asks before carrying it out.
//
// A plan depends on its input alone: no clock is read ([Planner.Now]), and lists may come in any order. It is for the
// cluster as it was given. When the cluster has changed, or a step has failed, a new plan has to be made; steps that have
// begun by then are input ([Cluster.Underway]).
//
// # The order of reasons
//
//	interrupted    all nodes with an interruption notice, in one step. They go even if a
//	               pod finds no node; the plan then has a warning. Launches are
//	               waited for as long as the notice lasts.
//	expired        nodes past expireAfter, the oldest first
//	drifted        nodes that differ from what their pool asks for, as [Verdict.Drift]
//	               says: empty ones, then the earliest drifted. A type that is missing in
//	               the catalog is drift only if the catalog is live ([Planner.LiveCatalog])
//	empty          all nodes without pods other than DaemonSets', as many in a step as budgets
//	               allow
//	underutilized  nodes whose pods cost less elsewhere: any number of nodes by any
//	               number of launches
//	misplaced      pods that break a scheduling rule on their node ([Planner.Rebalance])
//
// Expired and drifted nodes go one by one, each with launches for its own pods. If that costs less, nodes are chosen
// for the pods of all of them together, and the nodes go in steps as small as possible; a step may then launch more than
// its nodes need, for the nodes of the next. A cluster that drifts as a whole, e.g. by a new image, is rebuilt that way.
//
// Nodes that are to be interrupted, expired or drifted take in no pods of other nodes. In clusters of less than 1,000
// nodes the steps that save are tried out before the first of them is final, together with the next plan, as it would be
// once consolidateAfter has passed. If the next plan would save, this plan goes directly to the cluster where both end, so
// that no pod moves twice; if there is no way there in steps, it makes the steps of the next plan that need only nodes
// without newly arrived pods. Savings that only become possible by the steps follow in the same plan, as far as
// consolidateAfter allows: e.g. where a node uses the only instance of a reservation, its pods move to another node, and
// back when the first is gone. Only pods that had to move for interruption, expiry or drift may move a second time.
//
// A node that is drained exists until its last pod has left. Pods that may not run elsewhere because of it, by topology
// spread, are scheduled when it is gone. Zones and other domains that a NodePool offers count for topology spread even
// then, whether or not the pool's limits leave room to launch there. kube-scheduler does not count them, but without this
// rule pods that are spread over zones would be moved into a single zone, zone by zone.
//
// # Why a node is no candidate
//
// For drift, emptiness and consolidation: the node is not initialized, is being removed already, is nominated for pods, or
// belongs to no NodePool of the input; do-not-disrupt on the node or on a pod that has not ended (do-not-evict and Cluster
// Autoscaler's safe-to-evict "false" count as well); a pod whose PodDisruptionBudget allows no disruption, or that has two
// budgets. With a terminationGracePeriod, drift does not wait for pods. For emptiness and consolidation also the pool's
// policy, consolidateAfter and [Planner.MinLifetime]; for consolidation a price that is not known. With
// [Planner.KeepBarePods] also pods without a controller. See [CauseCode].
//
// # Budgets
//
// The disruption budgets of a NodePool bound how many of its nodes a step removes: the least of the budgets that are for
// the reason and active. Percentages are of the initialized nodes before the step, rounded up; nodes that are not ready or
// being removed are subtracted. A saving by more nodes than a budget allows is made part by part, where there are parts
// that each save. Schedules are in UTC. Expiry and interruption ask no budget. How many pods of a PodDisruptionBudget may
// be away is read from its status if its controller has seen the current object; otherwise it is counted from the pods by
// the controller's rules.
//
// # How much a move must save
//
// Prices are expected prices, because a node costs more than its instance ([scheduling.Policy.ExpectedPrice]); that holds
// for nodes that go and for nodes that are launched. A step for Underutilized saves at least [Planner.MinSaving], and more
// than zero, by each option of its launches: options that are too expensive are left out. Where one spot node replaces
// another, enough cheaper types are needed ([Planner.SpotToSpotTypes]). In pools with policy Balanced, the share of the
// pool's price that is saved must be at least 1/k of the share of its disruption cost that is spent ([Planner.BalancedK]).
//
// # Bounds
//
// [ConsolidationSummary.LowerBoundPerHour] is proven for clusters that keep the nodes which may not go. [ConsolidationSummary.Rebuilt] is the
// cheapest cluster that was found if all nodes may go except by [Machine.MustStay]. [Planner.Blocked] finds how much more
// the cluster would save without each of the causes for which nodes stay.
//
// # What differs from Karpenter
//
// Karpenter makes one move, waits, and looks again; a plan has all moves. One search looks at sets of nodes of any size, of
// all pools, and may launch several nodes; Karpenter removes single nodes or a prefix of an ordered list and launches at
// most one. Expired nodes are replaced before they go. An unknown price is not zero. A node whose pods have no disruption
// cost is not empty. A budget that cannot be read is an error; Karpenter silently blocks all disruption by it. Spot may be
// replaced by spot without a feature gate. Nodes of static pools are left to their controller.
// scheduling/doc/conformance.md goes through all of it, line by line.
package disruption

// A map of this package's files, from the ground up: files refer to files of their own part and of
// parts before it. Packages in internal answer questions that need no state of a plan; their doc.go
// says which.
//
// The words
//
//	cluster      the input: nodes, pods, NodeClaims, and the settings of a Planner
//	step         a step with its reason and risks, and the causes for which nodes stay
//	validate, deadline      every fault of the input; whether a context has ended, and by what
//
// The cluster as it is after some steps
//
//	candidate, pools, state nodes, NodePools, and the cluster with its pods
//	candidates, blockers    the rules by which nodes may be disrupted, and the causes for which they stay
//	price, minnodes         whether a move saves enough; nodes that stay because their pool keeps a minimum
//	sessions, landing       the cluster as package provisioning and as kube-scheduler see it
//	take, pending, room     applying a step; pods that have no node yet; virtual pods, which have room on nodes
//
// One step
//
//	simulate     where pods would go if nodes were removed
//	admit, decide           the step of a move; where kube-scheduler binds its pods
//	combine, risks          one step in place of several; the risks of a step
//
// A cheaper cluster
//
//	target, composition     the cluster rebuilt from scratch: its price, its bound, its nodes
//	search, moves, keepset  a cheaper cluster for the same pods; the nodes to keep when many go at once
//	ordering     the parts of the step that leads there (internal/order)
//
// The run that makes a plan
//
//	run, reach   the steps that are made; a step reached in parts
//	method       a method for each reason: its candidates, and the steps that disrupt them
//	forced, replace, predict  the methods for interrupted, expired, drifted and empty nodes
//	consolidate, rebalance  the methods for nodes that cost too much, and for pods that break a scheduling rule
//	improver     the best of several trials of a plan; all methods search by it
//	lookahead, nextplan     the next plan, made in advance, and which of its steps this plan makes
//
// The plan
//
//	planner, shorten        Planner.Plan and Steps; a plan of its first steps
//	plan, summary, verdict  the plan, its texts and sums
//	rebuilt, realise        the cluster without any node of today; the plan with other choices of kube-scheduler
//	spot_shares             SpotPolicies: the shares after the last step
//	blocked, unblock        how much each cause keeps the cluster from saving; the cluster without it
