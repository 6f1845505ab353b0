// Package topology decides at which site each pod of a class goes, so that rules over
// labels of nodes hold: spread, affinity and anti-affinity over zones, capacity types
// or any other key but the host.
//
// # Vocabulary
//
//	class   pods, or units of pods, that are interchangeable (a unit of package units)
//	site    a place to which pods can go: nodes that have the same values for every key
//	        that matters to the class, such as one zone, or one zone and capacity type
//	cell    a site of a class, after compilation
//	rule    one spread, affinity or anti-affinity term that classes hold, are counted
//	        by, or both; a preference is a rule that may be broken
//	domain  one value of a rule's key
//	bin     a machine that already runs and has room left
//	cluster classes that rules tie together, directly or through others
//
// # Promises
//
// [Plan] gives counts of pods by class and site. They respect limits and the rules as
// kube-scheduler enforces them: bound one by one in order of priority, with retries,
// every pod binds. [Replay] does just that, and whatever Plan returns survives it,
// whether or not the domains that stay empty exist. Pods that no site admits stay
// unplaced. The same problem gives the same result.
//
// Affinity and anti-affinity hold in whatever order the pods come. So a pod opens a
// domain for its own kind only if no counted pod is planned anywhere else; and if some
// are, it goes to a domain in which one of them is sure to be. That pods with spreads
// bind in every order is not always possible. Where there is a proof that they do, the
// plan is preferred to others that place as many.
//
// # Units
//
// A class may be units of several pods that go to one machine. Its links are those of
// all of them together: it holds the rules that one of them holds, and counts for as much as
// all of them. In the proofs a unit is like one pod, and that is on the safe side: a pod that is
// counted and free is taken to wait with the one of its unit that is not.
//
// It is a plan for sites only. Packing pods onto machines is left to the engine, which
// also finds out whether the pods fit that were assigned to running machines.
//
// # How
//
// Plan goes pod by pod, urgent classes first, and takes the best site that the rules
// admit: fewest preferences broken, then most use for other pods, then the lowest cost, then
// the least count of the pod's own spreads. Pods that had to wait are tried again when a rule
// that kept them out has changed.
//
// Then the plan of each cluster is bound as a trial. If pods are left over because of
// rules, or do not bind, or may wait for each other for ever if they come in another
// order, the cluster is planned again in other ways, within a fixed amount of work, and
// the best plan is kept: most pods of the highest priority, then the one of which least
// is lost in random orders, then the one of which most is proven.
//
// Pods that wait for each other are mostly such that hold one spread and are counted by
// another, in a cycle. Each spread of a cycle is given one domain, its anchor, for all that
// hold it without being counted by it; others level it out. Spreads that select their
// own pods keep these apart as they are meant to.
//
// Where proofs are asked for, pods are reassigned to cheaper sites by simulated annealing: pods
// that are missing for a proof that all bind in any order have a price, which rises until none
// is missing.
package topology

// A map of this package's files. Whether pods bind is told by files that know nothing of plans:
//
//	problem, compile  the problem, and the same with everything numbered through
//	counts       counted pods per domain, kept up to date pod by pod, and whom they admit
//	replay       binding as kube-scheduler does, by counts of classes (Replay) or in a given order of pods (Binds)
//	trial        binding in random orders
//	independence pods that meet their affinities in any order, and those to give up if not
//	room         the room that running machines and limits have left
//
// Those that plan stand on them:
//
//	draft        the pods that are placed; saving and restoring them for a cluster
//	plan, order, choose  pods one by one: in which order, and the best site for the next
//	lookahead    the domains that pods need which are not placed yet
//	traits       which rules a class holds, and where it can go
//	cluster      classes that rules tie together
//	certify      whether all pods are proven to bind in any order
//	repair       planning a cluster again in other ways
//	cyclic*      domains for spreads that count each other's pods
//	reassign*    cheaper sites for all pods at once, as long as they bind in any order
