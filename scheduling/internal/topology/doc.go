// Package topology decides at which site each pod of a class goes, so that rules over
// labels of nodes hold: spread, affinity and anti-affinity over zones, capacity types
// or any other key but the host.
//
// # Vocabulary
//
//	class   pods that are interchangeable
//	site    a place to which pods can go: nodes that have the same values for every key
//	        that matters to the class, such as one zone, or one zone and capacity type
//	rule    one spread, affinity or anti-affinity term that classes hold, are counted
//	        by, or both; a wish is a rule that may be broken
//	domain  one value of a rule's key
//	bin     a machine that already runs and has room left
//
// # What is promised
//
// [Plan] gives counts of pods by class and site. They respect limits and the rules as
// kube-scheduler enforces them: bound one by one in order of priority, with retries,
// every pod binds. [Replay] does just that, and whatever Plan returns survives it.
// Pods that no site admits stay unplaced, and the rule that kept them out is named.
//
// Plan works greedily, pod by pod, and is a plan for sites only: packing pods onto
// machines is left to the engine, which gets one problem per site out of it. Where pods
// stay out because of rules, the classes that these rules tie together are planned
// again in other orders, within a fixed amount of work.
//
// The same problem gives the same result.
package topology
