package main

import "math"

// view is how results are shown.
type view struct {
	// width is how many columns tables may take; 0 is any number.
	width int
	// details adds the tables of a consolidation beyond its summary, steps and blocked savings.
	details bool
	// stopped names the interrupt or timeout that ended the search early; "" for none.
	stopped string
}

// most is how many items of a list are told at most: n, or all where tables take any width.
func (v view) most(n int) int {
	if v.width == 0 {
		return math.MaxInt32
	}
	return n
}
