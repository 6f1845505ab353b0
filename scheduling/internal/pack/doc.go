// Package pack decides how many machines of which option to buy and which classes
// go onto each. It knows integers only (see [model]).
//
// # How it searches
//
//	bins.go       what already runs is used before anything is bought
//	binfill.go    fills it machine by machine, so that little room is left
//	useful.go     of many that run, looks at those that pods could need
//	nearest.go    remembers which these are from one problem to the next
//	housed.go     where they have room for all that fit any, looks at the others alone
//	slim.go       leaves out what few pods have no use for on sale
//	values.go     what a pod of each class is worth: the price of its share of the
//	              cheapest machine that could hold it
//	company.go    who may join those that are on a machine: crowds, conflicts and
//	              bounds per machine
//	stage.go      options by the groups they admit, and for each such row the classes
//	              on shelves by size, so that classes of one size are weighed as one
//	fill.go       fills one option so that the worth inside is as high as it gets
//	shortlist.go  of many sizes only the best are weighed again at every step
//	racks.go      for many machines, passes by sizes among which none can be the best
//	construct.go  buys, again and again, the filled option with the most worth per
//	              price; counts are taken in bulk, so that cost follows classes and
//	              not pods
//	pace.go       where crowded pods make for many machines, keeps the others from
//	              running out before these do
//	blend.go      what to buy if pods could be had in pieces, and what they are worth then
//	bulk.go       buys as many whole machines of each option, and a fleet for the rest
//	cover.go      the cheapest machines with so much room together
//	fleet.go      spreads pods over machines so that none runs out of a resource before
//	              the others
//	slots.go      how many machines crowded pods need, and who has to go first on each
//	columns.go    mixes fillings so that every class has its pods, and looks for those that
//	              were missing (column generation)
//	mixture.go    mixes fillings of all pods at once, where a plan is far above its bound
//	large.go      decides how many of the large machines of such a mix there are
//	dive.go       buys the machines of one mix after the other
//	attempts.go   which of these are tried, and in which order
//	correct.go    constructs anew with worths corrected by what each class really
//	              cost, and keeps the best (sequential value correction)
//	improve.go    takes a few of the worst machines apart and packs their pods anew, or
//	              looks for a cheaper fleet for them
//	regroup.go    packs the machines of pods that few machines let in anew
//	refleet.go    chooses the machines for pods of which some may be on few of them together,
//	              and learns from those that turn out not to hold all
//	fleettree.go  the cheapest whole machines that have all that is needed
//	squeeze.go    exchanges pods between machines until none holds too much
//	insist.go     where that is stuck, counts for more what is too much there
//	hone.go       exchanges some machines for cheaper ones where a plan is far above its
//	              bound, and squeezes the pods of all machines onto those
//	mates.go      the same for pods of which a machine takes only so many
//	teach.go      learns from what does not hold all there
//	across.go     packs machines of pods that put up with a taint together with those of pods
//	              to whom it means nothing
//	ration.go     where limits or reservations keep pods out, judges machines by what they
//	              take of these, so that fewer are
//	content.go    when an answer will do
//	search.go     the order of all this, the budget and the deadline
//
// Work is counted in classes looked at, never in time, so that the same budget
// gives the same answer on every machine. Floating point only ranks candidates;
// whether something fits is decided in integers.
package pack
