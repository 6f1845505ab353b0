package main

import "math"

// view says how what was found is shown.
type view struct {
	// width is how many columns tables may take; 0 is any number.
	width int
	// stopped is what ended the search early; "" is nothing.
	stopped string
}

// most is how many items of a list are told at most: n, or all where tables take any width.
func (v view) most(n int) int {
	if v.width == 0 {
		return math.MaxInt32
	}
	return n
}
