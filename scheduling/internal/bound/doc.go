// Package bound proves lower bounds on the price of every plan that places given pods on the nodes for sale.
//
// It owns the search for dual values and the proof, in whole numbers, that no node on sale can beat them. It
// knows classes of equal pods, capacities, prices and bit rows of compatibility ([Market]), and neither
// Kubernetes objects nor the plan that the bound is compared with. Wherever the search stops, its bound is
// valid, if not the highest: it is proven in whole numbers from the dual values alone, and scheduling/verify
// repeats this proof. In this package a machine is one offering, or one existing node, with the classes that it
// admits.
//
// # The assignment bound
//
// One price per unit of each resource for the whole market bounds badly where classes may use different
// machines: a cheap machine that few classes can use keeps the dual values of all classes down. The assignment
// bound gives each class a dual value u of its own, and each machine o on sale a vector λ of resource duals of
// its own. The pods on a machine that holds x_c pods of each class have the value
//
//	Σ u_c·x_c  ≤  λ·cap + Σ k_c·max(0, u_c − λ·size_c)
//
// because their requests are within its capacity, and because x_c is at most k_c, the number of pods of the
// class that fit on the empty machine. Where the right side is at most the price for some λ, and this holds for
// every machine on sale, the value of all pods is at most the price of any plan. A class counts for a machine
// only if the machine admits it and it fits, and the capacity is cut to the total request of these classes.
// Supplies, e.g. existing nodes and reservations, exist in limited number: the value that they can hold beyond
// their price is subtracted.
//
// The best u is the dual solution of a linear program that assigns pods to machines in fractions, at most k_c
// pods of a class to one machine. [Pattern] solves it by an interior-point method for a few machines and adds
// the machines that violate their constraint, until none does or the work is used up. The solution is made
// feasible for every machine, and then proven in whole numbers.
//
// # The pattern bound
//
// A machine of a few pods can hold less value than any λ shows: a machine of two cores holds one pod of 1.2
// cores, or two of 0.7, but not the pods that would fill it. [Pattern] goes on from the assignment bound to
// dual values that are feasible only because pods are whole. It starts with the patterns of a known plan and
// generates columns as Gilmore and Gomory do: the master problem, the cheapest mix of the known patterns,
// suggests dual values, and a machine that can hold more value than it costs yields a pattern that was missing.
// The values that are tried lie between the best proven ones and the suggested ones (stabilization), and are
// scaled down until they are feasible, so that every round may improve the bound.
//
// The more pods a machine holds, the smaller is the gain and the more patterns there are. So the search ends when
// it has worked as long again as it took to raise the bound, whatever the input is. That no pattern
// has more value than the price is proven in whole numbers by a search over the classes, one after the other: of
// partial patterns that leave the same room only the best is kept, and those are dropped that cannot exceed the
// price even by λ. The number of states is raised machine by machine, first for the machine of the largest ratio
// of value to price; where the largest number does not suffice, its best fractional pattern becomes a column.
//
// The search of package columns for a plan has the same master problem, with greedy pricing. Its patterns are the first
// columns here ([Effort].Seen), and those found here are its first columns ([Assigned].Patterns), so that both begin near the
// optimum that the other one has found.
//
// # Branches
//
// Where few machines are bought, their number must be whole, whichever pods there are. Every plan buys either
// at most k machines of at least a given price, or at least k+1. In the first branch each of these machines may
// cost t more, because k·t is subtracted from the bound; in the second each costs t less, and (k+1)·t is added.
// With these prices either branch is an assignment bound of its own, and the lesser of the two holds for all
// plans ([Branched]). The open branch with the lowest bound is divided next, by the count that is furthest from a
// whole number. A machine that another one dominates may be bought for the sake of the count, so in a branch it
// stays in the market.
//
// Where machines are in domains they are counted domain by domain. While the number of pods of each domain is
// open, the duals are optimized for the numbers of the best solution so far, and each branch proves the bound
// that its duals give wherever the pods are.
//
// # Spreads
//
// A class whose pods must stay within a minimum and a maximum in each of several domains, such as zones, is one
// class of the market in each domain ([Spread]). The number of its pods in each domain is not known. For any
// numbers the bounds above give duals by domain; whatever the numbers are in a plan, the value of its pods is
// at least the value where as many of them as possible are in the domains of the lowest duals. For several
// kinds that share one spread this takes the form of multipliers: a reduction of the duals of all kinds in a
// domain. The search starts with the numbers that look cheapest, and tries others where the duals prove less
// than their objective at these numbers.
//
// Prices are whole nano-USD, so the price of a plan is too, and the bound may be rounded up to the next
// integer.
package bound
