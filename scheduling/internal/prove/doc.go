// Package prove finds the lower bound on the price of every plan for a compiled problem, and
// the certificate that goes with it. It states the bound's instance, with running nodes as
// room that is free. Where pods are spread over the values of a label, or kept apart there, domains
// are told apart: of one label, that with the most at stake.
package prove

// A map of this package's files
//
//	prove, early_bound   the bounds that are tried, one after the other
//	market, buyable, choices, freeroom, needs_new_node   what may be bought, and what nodes have left
//	certificate   what was proven, with the names of pods and resources
//	per_node_limits, surrogate_resource   what is counted beside resources
//	pod_duals, class_duals   what pods are worth
//	domains, domainrule, domainspread   where nodes may be, and how many pods of a constraint may be where
//	domainmarket, domainchoices, domainproof, domaincertificate   the bound where domains are told apart
//	domainbalance, domainbalancecertificate   the bound where domains owe each other for pods
