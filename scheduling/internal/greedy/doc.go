// Package greedy fills machines with pods one after the other, and buys, again and again, the filled option
// with the most value per cost. It owns the construction of an answer: the pattern of one machine, per-node
// limits and conflicts on it, the budget of limits and reservations, and best fit on existing nodes (bins). The
// caller decides which values pods have, which options are offered, and how often to construct. It promises
// that every machine keeps its capacity, its per-node limits and its minValues floor; it does not look for the
// best answer. It knows integers only (see [model]).
//
// # A map of this package's files
//
//	filler.go        the entry points
//	sizes.go         classes by size, and which of them are alike
//	fill.go          fills one machine for as much value as possible
//	shortlist.go     of many sizes only the best are compared in every step
//	node_pods.go     which pods may join a machine: per-node limits, conflicts, PerNode
//	market.go        options of one pass by the groups that they admit
//	class_index.go   classes by size for each row of a market
//	values.go        values of classes: the price of their share of the cheapest option
//	construct.go     buys machines; equal ones at once, so that the work grows with classes and not with pods
//	budget.go        the rest of limits and reservations
//	limit_pacing.go  caps on costs while per-node limits decide the number of machines
//	slots.go         the number of machines that per-node limits need
//	fill_set.go      fills a given set of machines
//	useful_bins.go   of many existing nodes those that pods could need
//	bins.go          best fit on existing nodes
//	binfill.go       fills existing nodes one by one, so that little of their room is left
//
// Work is counted in classes that are looked at, never in time, so that the same budget gives the same answer
// on every computer. Floating point only ranks candidates; whether pods fit is decided in integers.
package greedy
