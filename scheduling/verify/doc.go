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
// It owns the verdict and nothing else: it finds no plan, and knows neither clusters nor clouds. Requests of pods and the
// form of node affinity are read with the functions of kube-scheduler (k8s.io/component-helpers).
//
// # Rules of plans
//
// Pods: every pending pod stands exactly once in the plan; bound, finished, deleted and daemon-owned pods do not stand in
// it. Pods with scheduling gates, resource claims or unusable volume claims are not placed, and a reason names these.
// Each pod that is not placed has a reason and, unless it is held, a fix or the message that none was found. No node
// could take it and no pool could launch for it. A pod that depends on other pods is reported only where it could bind
// after all of them, and all would bind with it among them, from the first name to the last and from the last to the
// first.
//
// Launches: the pool may launch every option now, at the stated price, and each option holds all pods of the launch by the
// rules of kube-scheduler: node selector, required node affinity, taints, host ports, volumes and how many of them can be
// attached, and resources beside the daemons of that very node. Options are distinct, ranked, and as many as the limit
// and minValues allow. Limits of pools and reservations hold for the first options together, and still hold whichever
// option each launch gets; launches that must list several options, for minValues or a policy's Flexibility, need
// only hold if one of them gets another.
//
// Nominations: pods that are nominated are on that node, unless they could not be there beside running pods, nominated
// pods that stay, and pods of higher priority. They bind first, before the new nodes of the plan have joined.
//
// Nodes that receive pods exist, are not being removed, and have room beside their pods and the daemons still to come.
//
// Topology terms (topology spread, the cluster's defaults among it, required pod affinity and anti-affinity) hold at every
// step of carrying the plan out: with all existing and new nodes in place, the plan's pods bind one by one in order of priority
// and name, pods that cannot bind yet try again later, and all bind in the end. The other options of a launch are where its
// first is, as far as topology terms can tell.
//
// The summary adds up, and the certificate proves the lower bound: see [certificate.Certificate].
//
// # Rules of steps
//
// [Steps] judges plans of package disruption by carrying them out. At each step the launches become nodes,
// drained nodes receive no pods, pods leave wave by wave and bind where the plan expects them, by every rule above, and a
// node is gone with its last pod; limits do not count it while it goes. Its zone and other domains count for the spread of
// the step's pods even then, where a pool could launch a node for them there, except where the plan warns that the node
// is interrupted and they cannot be spread. Each node is there and may go: by its reason, by its pool's policy, times and
// budgets, and by the annotations of the node and its pods. No PodDisruptionBudget is exceeded in any wave. Every pod that
// must be rescheduled is so once, to a node that stays. Prices, costs, scores, verdicts and sums are those of the plan.
//
// # Not judged
//
//   - soft preferences
//   - whether pods of launches are spread over domains without nodes, because other rules may keep them from there
//   - whether a plan is cheap beyond its bound, and how cheap a rebuilt cluster is
//   - whether a claim without a volume could have an existing one instead of a new one
//   - whether a node that stays could have been drained, and whether its reasons are complete
//   - risks of steps, except that a pod without a controller would not be recreated
package verify

// A map of this package's files
//
//	verify       the checker of plans
//	steps        the checker of consolidation steps
//	bill         bills under commitments
//	report       the violations found, and the codes of the rules
//	proof        the amounts that add up to the lower bound
//
// Below stand internal/launchplan and internal/steps, which judge the two kinds of plans; internal/sums, the figures that
// their summaries share; internal/certificate, the proofs of bounds; internal/bill, bills; internal/binding, which binds pods one by one;
// internal/snapshot, the problem looked up by name; and internal/rule, which collects violations.
