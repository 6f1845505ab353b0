// Package verify judges plans. It decides from the Kubernetes objects alone whether
// a [scheduling.Plan] keeps every promise that its fields make, and it shares no code
// with the solver: labels are maps, quantities are numbers without a size limit, and
// every rule is a plain loop. Use it if you do not trust the solver, or have changed
// a plan by hand.
//
//	if err := verify.Plan(problem, plan); err != nil {
//		var report *verify.Report
//		if errors.As(err, &report) { … report.Violations … }
//	}
//
// # What is judged
//
// Every pending pod stands exactly once in the plan; bound, finished, deleted
// and daemon-owned pods do not stand in it. Pods with scheduling gates, resource claims
// or volume claims that nobody can use are not placed, and are told what holds them.
// Refused pods are told why and, unless they are held, what would help, and are refused
// only if no node could take them and no pool could launch for them: a pod that depends
// on others is missed only where it could bind after all others, and all would bind with
// it among them, from the first name to the last and from the last to the first.
//
// Every option of a launch, not only the first, may be bought by the pool now, at the
// stated price, and holds all pods of the launch by the rules of kube-scheduler: node
// selector, required node affinity, taints, host ports, volumes and how many of them
// can be attached, and resources beside the daemons that would run on that very machine.
// Options are distinct, ranked, and as many as the limit and minValues allow. Pool
// limits and reservations hold for the first options together, and still hold whichever
// option each launch is bought at; launches of which minValues or a policy's Flexibility
// ask for several options need only hold if one of them is bought at another.
//
// Pods that are nominated are on that node, unless they could not be there beside what runs,
// the others that stay, and pods of higher priority. They bind first, before the plan's machines
// are there.
//
// Nodes that receive pods exist, are not being removed, and have room beside their
// pods and the daemons still to come.
//
// Rules between pods (topology spread, the defaults of the cluster among them, required
// pod affinity and anti-affinity) hold at every step of carrying the plan out: with all
// nodes and machines in place, the plan's pods bind one by one in order of priority and
// name, those that may not yet try again later, and all bind in the end. The other
// options of a launch are where its first is, as far as such rules can tell.
//
// The summary adds up, and the certificate proves the lower bound anew: see
// [certificate.Certificate].
//
// # Plans that disrupt nodes
//
// [Steps] judges plans of package disruption by carrying them out: at each step the
// machines to launch become nodes, the drained nodes take nobody in any more, pods leave
// wave by wave and bind where they are expected, by every rule above, and a node is gone
// with its last pod; limits do not count it while it goes. Its zone and other domains count for
// the spread of the step's pods even then, where a pool could launch a machine for them there, except
// where the plan warns that the node is taken away and they cannot be spread. Each node has to be there
// and free to go, by its reason, its pool's policy, times and budgets, and what it and its pods ask for;
// no PodDisruptionBudget is exceeded in any wave; every pod that has to live on lands once, on a node
// that stays; and prices, costs, scores, verdicts and sums are what the plan says.
//
// # What is not judged
//
// Soft preferences; whether pods that are bought for are spread over domains that have no
// nodes yet, which other rules may keep them from; whether a plan is cheap beyond what its
// bound says; whether a claim without a volume could have one that exists already instead of
// a new one; whether a node could have been drained as well that stays, and whether what is
// said of that is all; risks of steps but that a pod without a controller is gone for good;
// and how cheap a cluster built anew is.
package verify

// A map of this package's files, in the order in which a plan is judged. A name with a
// star stands for all files that begin so.
//
// The way through a plan
//
//	verify, report  the checkers, the rules that a plan can break, and the violations found
//	pods         each pending pod stands once, and reasons are given for those that are not placed
//	nominations  pods that are nominated to a node stay there unless they cannot
//	launch, flexibility  launches with their options
//	existing     running nodes that receive pods, and whether pods fit on a node
//	limits, workloads  what pools, reservations and shares of workloads allow of all together
//	claims       volumes that pods share
//	agreements   options that rules between pods could tell apart
//	refusals, simulation  whether there would have been a place for pods that are not placed
//	summary      the sums
//
// Plans that disrupt nodes
//
//	steps        the cluster, and its steps one after the other
//	steps_rules, steps_drain  nodes that may go: expiry, drift, what they and their pods ask for
//	steps_moves, steps_domains  evictions with their places, and domains that go on counting
//	steps_waves, steps_binding  pods that leave and bind in waves
//	steps_budgets  budgets of NodePools and PodDisruptionBudgets
//	steps_costs, steps_worth  prices, disruption costs, savings and scores
//	steps_verdicts  verdicts and sums of the whole plan
//	steps_bound  the lower bound of steps
//
// Below stand internal/snapshot, the problem looked up by name; internal/binding, which carries
// plans out pod by pod; and internal/certificate, the proofs of bounds.
