// Package greedy fills machines with pods one after the other, and buys, again and again, the
// filled option with the most worth per price. Which worths, which places of the market and how
// often is for the search to say. It knows integers only (see [model]).
//
// # A map of this package's files
//
//	filler.go     what is known of a problem, and scratch memory
//	fill.go       fills one machine such that the worth inside is as high as it gets
//	shortlist.go  of many sizes only the best are weighed again at every step
//	occupants.go  who may join those that are on a machine: per-node limits, conflicts, bounds
//	market.go     options by the groups they admit
//	stage.go      classes by size for each row of these
//	values.go     what a pod of each class is worth: the price of its share of the
//	              cheapest machine that could hold it
//	construct.go  buys machines; counts are taken in bulk, so that cost follows classes
//	budget.go     what limits and reservations still allow
//	limit_pacing.go  where crowded pods make for many machines, keeps the others from
//	              running out before these do
//	slots.go      how many machines crowded pods need
//	outfit.go     puts pods onto a fleet of machines that is given
//	useful.go     of many running machines (bins), those that pods could need
//	bins.go       best fit onto machines that run
//	binfill.go    fills these one by one, so that little room is left
//
// Work is counted in classes looked at, never in time, so that the same budget gives the
// same answer on every machine. Floating point only ranks candidates; whether something
// fits is decided in integers.
package greedy
