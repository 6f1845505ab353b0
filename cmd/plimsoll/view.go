package main

import (
	"io"
	"math"
	"os"
	"strconv"
)

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

// defaultWidth is how many columns tables take where nothing says how many there are.
const defaultWidth = 140

// widthOf returns how many columns there are for tables: what COLUMNS says, or else the width
// of the terminal, if that is what output goes to.
func widthOf(stdout io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if file, ok := stdout.(*os.File); ok {
		if n := terminalWidth(file); n > 0 {
			return n
		}
	}
	return defaultWidth
}
