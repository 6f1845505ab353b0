// Package linear solves the small linear programs of the search: which machines, or
// which fillings of machines, to buy in fractions so that everything wanted is there at
// the least cost. Whole columns are bought by branch and bound on such programs.
//
// It works in floating point. What it says is a suggestion for a search whose answers
// are checked in whole numbers; nothing is proven by it.
package linear
