// Package certificate proves lower bounds on the price of plans from their certificates alone, see
// [certificate.Certificate]. It owns the proof: exact sums of numbers without a size limit, bounded in work, so that no
// certificate, forged ones among them, takes it long. It adds each fault of a certificate to the report of its caller, and
// does not know how certificates are found.
//
// # The proof
//
// A price is that of [scheduling.Policy.Objective]: the offering's price, the node overhead and the expected interruptions. A
// certificate gives each placed pod a worth w such that no machine on sale, except those of reservations (R), holds pods whose
// worth exceeds its price. Then for every plan in which the same pods are placed
//
//	price ≥ Σ w − L − N − R + M
//
// and the certificate proves a bound if the right side, rounded up because prices are whole nano-USD, is at least the bound
// (Claim.proven). The terms are
//
//	Σ w  the worth of the placed pods (worthProof.worthAt)
//	L    the largest loss of pods that are worth less in some domains (domainSpread.largestLoss); 0 without Spreads
//	N    the most worth that running nodes can hold, because nobody pays for them (worthProof.onNodes)
//	R    the most worth above their price that machines of reservations can hold: the amounts that the certificate states, of
//	     which each machine must hold at most its share (allowed), or else the most that is found (shared)
//	M    the multipliers of the cases times the bounds on the number of machines (addMultipliers); 0 without cases
//
// That a machine holds no more worth than its price is shown by a vector v of values of resources, any v ≥ 0 (worthBound.mostWorth):
//
//	Σ w ≤ v·capacity + Σ over classes of max(0, w − v·requests) · (how many pods of the class the machine holds alone)
//
// because pods that fit together request at most the capacity, which is first reduced to what the pods that fit there request
// altogether (loadOf). checkMachines tries the cheapest test first: the bare offering
// (bareWithinPrice), the room for any pods (anyPodsWithinPrice), the pods that its constraints admit (withinPrice). Each test
// only finds earlier that the worth is certainly not above the price. With kind "pattern" an exact search (bestPattern) decides where no vector does. All estimates are on the safe
// side: machines are taken with the fewest DaemonSets and so with the most room, worths are rounded up, limits down.
//
// By kind of certificate:
//
//   - resource: w is the value of a pod's requests; the same vector serves all machines (judgeAssignment).
//   - assignment, pattern: w is given by class (judgeAssignment).
//   - branched: every plan buys either at most AtMost machines of a price, or more. In the first case each of these machines may
//     hold μ more worth and μ·AtMost is taken off, in the second μ less, and μ·(AtMost+1) is added (judgeCase).
//   - cover: no set of machines that costs less than the bound has the resources that the pods need (judgeCover). No worths.
//   - assignment with Domains and Balances: worths differ by domain. For a spread, the count of a domain with a pod that has the
//     constraint exceeds the least count by at most maxSkew, so Σ Taken·(count − maxSkew) ≤ Σ Raised·count as long as
//     Σ Taken ≤ Σ Raised. Adding this gives price ≥ Σ payments − Σ Raised·running − N − R − Σ over domains of linked.mostLeft,
//     the most that the pods of one domain can have above their payments (judgeDomains).
//
// A certificate is accepted if no fault of it was added to the report (rule.Certificate* and rule.BoundUnproven). That the bound
// is at most the plan's price is checked by package sums.
//
// The fields that each kind reads; a certificate with another of Vectors, Spreads, Apart, Steps, Domains or Balances is refused,
// unless it is listed as not read:
//
//	resource             Values by resource, Scale; Branched and Multipliers are not read
//	assignment, pattern  Values by pod, Vectors, Apart, Steps, Spreads, TopologyKey, Scale; Branched is not read, Multipliers
//	                     only in a case
//	 … with Domains or Balances  Values as payments, Domains, Balances, Apart, Steps, TopologyKey, Scale
//	branched             Branched, TopologyKey; Values, Vectors, Spreads, Apart and Steps are not read. Its cases are as of
//	                     assignment or pattern, with Multipliers; their TopologyKey is the root's
//	cover                Values by resource, Apart, Steps; Branched and Multipliers are not read
//
// The plan itself must keep the spreads that a certificate relies on (breach, imbalance), because the bound holds only for
// plans that keep them.
package certificate

// A map of this package's files
//
//	claim        a bound that is to be proven, by which kind of certificate (Claim.Judge), and cases with their multipliers
//	proof        the worths of pods, and the worth that running nodes hold
//	terms        the amounts that add up to a bound
//	machines     that no machine holds more worth than it costs, wherever it is
//	load         pods that a machine may hold together
//	worth, pattern  the most worth of a load by a vector, and by the patterns of its pods
//	cover        the choices of whole machines
//	dimensions, measures  the amounts that are counted: of resources, and beside them
//	spread       pods that a constraint spreads over domains
//	in_domain    worths of pods in a domain
//	balance      worths by domain (judgeDomains), and spread constraints with multipliers by domain
//	linked       spread constraints that have or count the same pods
