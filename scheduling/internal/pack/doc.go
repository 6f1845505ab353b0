// Package pack decides how many machines of which option to buy and which classes go onto each, at low cost. It
// owns the search over complete answers; package greedy fills single machines, and package columns generates
// patterns. It knows integers only (see [model]): neither pods by name, nor domains, which are part of a group
// by now. It promises that every answer keeps capacities, per-node limits, the limits of pools and
// reservations, and that pods of a higher priority are not left out for pods of a lower one where this search
// can tell; it promises no optimum. Package bound says how far the cost may be from one.
//
// # A map of this package's files
//
//	search.go            parameters, the budget of work, the deadline, and the order of the phases
//	draft.go             the phases: first answer, least work on it, then the work that the caller allows. It goes
//	                     on from the least work's answer, so that more effort never costs more
//	value_correction.go  class values corrected by real costs (sequential value correction)
//	attempt.go           one complete answer: machines by pass, pods on existing nodes, pods without a place
//	improve.go           improves the machines of one pass by large neighbourhood search
//	lns.go               its operators: take a few machines apart and pack their pods again
//	destroy.go           the choice of these machines
//	ranking.go           machines by value per price, worst first
//	workers.go           tries changes in parallel, and chooses operators by their gains
//	set_cover.go         an operator: the cheapest set of machines with enough room in total
//	overload_repair.go   swaps pods between machines until none is overloaded
//	bin_exchange.go      takes existing nodes and bought machines apart together
//	merge_tiers.go       repacks the machines of two passes that differ by a PreferNoSchedule taint
//	limit_penalties.go   prices limits and reservations where they keep pods out
//
// Work is counted in classes that are looked at, never in time, so that the same budget gives the same answer
// on every computer. Floating point only ranks candidates; whether pods fit is decided in integers.
package pack
