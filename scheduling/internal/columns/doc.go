// Package columns finds machines by column generation (Gilmore and Gomory): a linear master problem says which
// patterns of pods on which options to buy in fractions so that every pod has a place; pricing fills machines
// at its duals to find patterns that are missing; and a dive buys the whole machines of one master solution
// after the other.
//
// It uses package greedy for pricing and package linear for the master. The last percent of the price is in patterns that
// fill a machine to the last pod, which greedy pricing does not find: the pattern bound (package bound) finds them by exact
// knapsacks, and the master problem begins with them. This package knows neither limits, reservations nor minValues
// floors: package pack calls it only without them. It promises no optimum, only that every pattern is feasible.
//
// # A map of this package's files
//
//	master.go  patterns and the master problem
//	pricing.go patterns that gain by the duals of the master problem
//	large.go   decides the numbers of large machines first
//	dive.go    buys the whole machines of one master solution after the other
package columns
