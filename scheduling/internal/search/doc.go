// Package search looks for a plan of an instance: for pods with topology terms the domains first, by package topology, and
// then machines by package pack, and again with other domains while that pays. It writes a solution as launches with ranked
// options and placements by name, after it has checked that kube-scheduler can bind the pods: in the order of priority and
// name, with retries.
//
// It does not know whether kube-scheduler would bind the pods elsewhere if it is free to, nor how far the price is from the
// lowest: see packages fleet and prove.
//
// A search goes SitePlanner.Solve → rounds → try (topology.Plan, then pack.Search) → Trial, and Decode writes the best trial.
// More effort goes on from the trial of less (Trial.Continue, Trial.Improve without topology terms). Besides
// the first call of topology.Plan, these may change the domain of a pod: SitePlanner.rounds (a site had no room),
// replanWithoutEmptyDomains, reprice, searchDomains, replanned and Trial.Intensify. Spreads that no placement can
// break (units.Rule.Loose) are left to pack.
//
//	site_planner                the rules of an instance as a topology.Problem; sites and their prices
//	site_planner_solve, trial, score  rounds of domains and machines; how trials are compared
//	foreign                     domains that pods must not open, because they would break a spread
//	empty_domains, unplaced, reprice, domain_search  other domains: without those where nothing is bought, without pods that find
//	                            no place, at the prices of the machines, class by class
//	intensify, improve          more search from a plan on
//	decode, decode_*            a solution as machines, launches and placements; pods that would not bind are removed
//	bind_simulation             whether pods bind in the order of kube-scheduler's queue
//	decode_unplaced, avoid_domains  machines for unplaced pods within the rest of limits; options that would open further domains are dropped
//	name_assigner, launch_requirements, sales, account  names of pods, labels of launches, options, shares of a price
package search
