// Package columns buys machines by column generation: a linear program says which fillings of
// machines to buy in parts so that every pod has a place, pricing fills machines at its duals, and
// a dive buys the whole ones of one program after the other.
//
// # A map of this package's files
//
//	mixture.go  fillings, their linear program, and those that were missing
//	large.go    decides how many of the large machines of such a mix there are
//	dive.go     buys the whole machines of one mix after the other
package columns
