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
//	budget.go     what limits and reservations still allow
//	useful.go     of many running machines (bins), those that pods could need
//	housed.go     where they have room for all that fit any, looks at the others alone
//	bins.go       best fit onto machines that run
//	binfill.go    fills these one by one, so that little room is left
//	seating.go    remembers how empty ones were filled
//	slim.go       leaves out options that others make pointless to the pods at hand
//	values.go     what a pod of each class is worth: the price of its share of the
//	              cheapest machine that could hold it
//	company.go    who may join those that are on a machine: crowds, conflicts, bounds
//	stage.go      options by the groups they admit, and classes by size for each such row
//	fill.go       fills one machine such that the worth inside is as high as it gets
//	shortlist.go  of many sizes only the best are weighed again at every step
//	construct.go  buys, again and again, the filled option with the most worth per
//	              price; counts are taken in bulk, so that cost follows classes
//	limit_pacing.go  where crowded pods make for many machines, keeps the others from
//	              running out before these do
//	slots.go      how many machines crowded pods need, and who has to go first on each
//	mixture.go    column generation: mixes fillings so that every class has its pods,
//	              and prices those that were missing
//	large.go      decides how many of the large machines of such a mix there are
//	dive.go       buys the whole machines of one mix after the other
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
// Work is counted in classes looked at, never in time, so that the same budget
// gives the same answer on every machine. Floating point only ranks candidates;
// whether something fits is decided in integers.
package pack
