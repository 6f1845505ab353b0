// Package prove finds the lower bound on the price of every plan for a compiled problem, and
// the certificate that goes with it. It states the bound's instance, with running nodes as
// room that is free. Where pods are spread over the values of a label, nodes with different ones
// are told apart: a zone is what any such label says, and a bound knows one label at a time,
// that with the most at stake.
package prove

// A map of this package's files
//
//	prove, early_bound   the bounds that are tried, one after the other
//	market, buyable, choices, freeroom, needs_new_node   what may be bought, and what nodes have left
//	exclusive_pods, surrogate_resource   what is counted beside resources
//	pod_duals, class_duals   what pods are worth
//	zones, zonalrule, zonespread   where nodes may be, and how many pods of a constraint may be where
//	zonemarket, zonechoices, zoneproof, zonecertificate   the bound where zones are told apart
//	zonebalance, zonebalancecertificate   the bound where zones owe each other for pods
