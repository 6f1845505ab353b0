// Package certificate proves lower bounds on the price of plans from their certificates alone, see
// [certificate.Certificate]. It owns the proof: exact sums of numbers without a size limit, bounded in work, so that no
// certificate, forged ones among them, takes it long. It reports each fault of a certificate by a function of its caller,
// and does not know how certificates are found.
package certificate

// A map of this package's files
//
//	claim        a bound that is to be proven, by which kind of certificate, and case by case
//	proof        the worths of pods, and the worth that running nodes hold
//	machines     that no machine holds more worth than it costs, wherever it is
//	load         pods that a machine may hold together
//	worth, pattern  the most worth of a load by a vector, and by the patterns of its pods
//	cover        the choices of whole machines
//	dimensions, measures  the amounts that are counted: of resources, and beside them
//	spread       pods that a constraint spreads over domains
//	in_domain    worths of pods in a domain
//	balance      spread constraints with multipliers by domain
//	entangled    constraints that concern each other's pods
