// Package columns finds machines by column generation (Gilmore and Gomory): a linear master problem says which
// patterns of pods on which options to buy in fractions so that every pod has a place; pricing fills machines
// at its duals to find patterns that are missing; and a dive buys the whole machines of one master solution
// after the other.
//
// It uses package greedy for pricing and package linear for the master. It knows neither limits, reservations
// nor minValues floors: package pack calls it only without them. It promises no optimum, only that every
// pattern is feasible.
//
// # A map of this package's files
//
//	master.go  patterns, the master problem, pricing
//	large.go   decides the numbers of large machines first
//	dive.go    buys the whole machines of one master solution after the other
package columns
