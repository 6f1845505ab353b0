// Package bound proves lower bounds on the price of a plan, from what pods may use which machines.
//
// # The assignment bound
//
// One vector of worths for the whole market says little where pods may use different
// machines: a cheap machine that most pods cannot use holds the worths of all of them
// down. The assignment bound gives each class of pods a worth u of its own, and each
// machine o on sale a vector λ of its own. A machine that holds x_c pods of each class
// holds worth of
//
//	Σ u_c·x_c  ≤  λ·cap + Σ k_c·max(0, u_c − λ·size_c)
//
// because the pods' requests are within its capacity, and because x_c is at most k_c,
// the number of pods of the class that it holds when nothing else is there. Where the
// right side is at most the price for some λ, and so for every machine on sale, the
// pods of any plan are worth no more than what it pays. Only classes that may use a
// machine and fit count for it, and its capacity is cut to what they request together.
// Limited machines take off what they can hold beyond their price.
//
// The best u is the dual of a linear program in which pods are assigned to machines in
// fractions, pods of a class at most k_c to a machine. [Pattern] solves it by an
// interior-point method for a few machines and adds those that hold too much worth
// then, until there are none or its work is used up. What it suggests is settled
// against every machine, and proven in whole numbers.
//
// # The pattern bound
//
// Machines of a few pods each can be worth less than any λ tells: a machine of two cores
// holds one pod of 1.2 cores, or two of 0.7, but not what would fill it up. [Pattern]
// goes on from the assignment bound to worths that such machines bear because pods are
// whole. It begins with what the machines of a plan hold, and generates columns as Gilmore and
// Gomory do: the cheapest mix of the patterns that are known suggests worths, and where some machine holds more than it costs by
// them, that is a pattern that was missing. Worths are taken part of the way from those
// that are proven to those that are suggested, and scaled down to what every machine
// bears, so that every round may prove something.
//
// The fuller a machine, the less is gained and the more patterns there are. It is tried
// only where some machine that counts holds few pods. That no pattern is worth more than the
// price is proven in whole numbers: classes are decided on one after the other, of
// patterns that leave the same room only the best is kept, and those are dropped that
// even λ says cannot come to more than the price. How many are looked at is refined machine by
// machine, the one first that may hold most for its price; where more do not help, the best that it
// holds with pods in pieces is a column of its own.
//
// # Branches
//
// Where few machines are bought it counts that they are whole, whatever pods are there. Plans
// buy either at most k machines that cost at least so much, or at least k+1. In the one case
// each of those may cost t more, as long as k·t is taken off the bound; in the other one each
// costs t less, and (k+1)·t is added. With such prices either case is an assignment bound of
// its own, and the least of them holds for all plans ([Parted]). The case with the least bound
// is branched on next, where the number of machines is furthest from a whole one. A machine that
// others make pointless may be bought for the sake of the count, and counts then.
//
// Where machines are in domains they are counted domain by domain. As far as it is open how many
// pods are where, the duals are sought for the numbers that the best ones were found for, and
// each branch proves what its duals come to wherever the pods are.
//
// # Spreads
//
// Pods of which only so many may be in each of some domains, such as zones, are a class
// of their own in each domain ([Spread]). It is not known how many are where. For any
// numbers the bounds above give worths by domain; whatever the numbers are in a plan, its
// pods are worth no less than when as many of them as may be are where they are worth
// least. For kinds that are spread together that takes the form of multipliers: what all of them
// are worth less in a domain. The search starts with numbers that seem cheapest and goes
// on with others where the worths prove less than they would by those numbers.
//
// Prices are whole nano-USD, so a plan's price is too, and the bound may be rounded
// up to the next integer.
package bound
