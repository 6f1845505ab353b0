package main

import "math"

// view is how results are shown.
type view struct {
	// width is how many columns tables may take; 0 is any number.
	width int
	// wide lists all items of lists (-o wide).
	wide bool
	// details adds the tables of a consolidation beyond its summary, steps and blocked savings.
	details bool
	// stopped names the interrupt or timeout that ended the search early; "" for none.
	stopped string
}

// most is how many items of a list are told at most: n, or all with -o wide.
func (v view) most(n int) int {
	if v.wide {
		return math.MaxInt32
	}
	return n
}
