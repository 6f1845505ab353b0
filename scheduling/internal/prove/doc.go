// Package prove finds a lower bound on the price of every plan for a compiled problem, and the certificate of the bound.
//
// The bounds are relaxations: prices of nodes must cover the duals of the pods on them, while existing nodes are free
// room. Where pods are spread or kept apart over a topology key, e.g. zones, a further bound treats each domain apart,
// for the key whose rules have the most weight. All prices are in nano-USD per hour unless a comment says otherwise.
package prove

// A map of this package's files
//
//	prove, early_bound   the bounds, tried one after the other
//	market, buyable, choices, freeroom, needs_new_node   the supply: offers, and free room of existing nodes
//	certificate   certificates, with the names of pods and resources
//	per_node_limits, surrogate_resource   dimensions beside the resources
//	pod_duals, class_duals   the duals of pods
//	domains, domainrule, domainspread   domains of offers and nodes, and the least and most pods of a rule in each
//	domainmarket, domainchoices, domainproof, domaincertificate   the bound by domains
//	domainbalance, domainbalancecertificate   the Lagrangian bound for spreads that count pods of other workloads
