// Package soak is the one knob for how many random cases the property tests try. Two
// environment variables turn it:
//
//   - PLIMSOLL_SOAK multiplies the number of cases (default 1).
//   - PLIMSOLL_WINDOW says which cases: window w of a test with n cases tries the seeds
//     from w×n to (w+1)×n-1 (default 0), so that each window tries others.
//
// Tests that import it collect garbage a quarter as often, which they spent a fifth of their time on.
package soak

import (
	"iter"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/plimsoll-go/plimsoll/internal/race"
)

var _ = debug.SetGCPercent(400)

// Window is the first seed and the number of seeds to try where n cases are enough for a
// change: as many more as PLIMSOLL_SOAK says, and a fifth of them under the race detector. A
// variable that is not a number counts as unset.
func Window(n int) (first, count int) {
	count = max(1, n*max(1, number("PLIMSOLL_SOAK")))
	if race.Enabled {
		count = max(1, count/5)
	}
	return number("PLIMSOLL_WINDOW") * count, count
}

// Cases yields the seeds of [Window].
func Cases(n int) iter.Seq[uint64] {
	first, count := Window(n)
	return func(yield func(uint64) bool) {
		for seed := first; seed < first+count; seed++ {
			if !yield(uint64(seed)) {
				return
			}
		}
	}
}

// Long reports whether there is time for cases that take long: PLIMSOLL_SOAK is above 1.
func Long() bool { return number("PLIMSOLL_SOAK") > 1 }

// number is the value of an environment variable, 0 for none.
func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
