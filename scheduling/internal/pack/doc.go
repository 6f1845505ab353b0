// Package pack decides how many machines of which option to buy and which classes
// go onto each. It knows integers only (see [model]).
//
// # A map of this package's files
//
//	search.go     the order of all this, the budget of work and the deadline
//	draft.go      the first answer, the least work on it, and what more there is from where
//	              that ended, so that more effort is never dearer
//	correct.go    worths corrected by what each class really cost (sequential value correction)
//	content.go    when an answer will do
//	attempt.go    one answer: what is bought in each pass, what the bins hold, what is left out
//	improve.go    large neighbourhood search: takes a few machines apart and packs their
//	              pods anew by one of some operators
//	ranking.go    machines, those that hold least worth for their price first
//	workers.go    tries such changes side by side, and chooses operators by what they gained
//	fleet.go      an operator: the cheapest machines with so much room together
//	overload_repair.go  moves pods about between machines until none holds too much
//	improvebins.go  takes running and bought machines apart together
//	across.go     packs machines of pods that put up with a taint together with those of
//	              pods to whom it means nothing
//	limit_penalties.go  where limits or reservations keep pods out, judges machines by what they
//	              take of these, so that fewer are
//
// Machines are filled and bought by the package greedy, and mixes of fillings by columns.
// Work is counted in classes looked at, never in time, so that the same budget
// gives the same answer on every machine. Floating point only ranks candidates;
// whether something fits is decided in integers.
package pack
