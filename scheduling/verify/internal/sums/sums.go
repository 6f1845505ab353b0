package sums

import (
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Count adds a violation for a number of a summary that is not the wanted one; what names the number.
func Count(report *rule.Report, what string, got, want int) {
	if got != want {
		report.Add(rule.SummaryCounts, "summary", "%s is %d, want %d", what, got, want)
	}
}

// Price adds a violation of the code for a price of a summary that is not the wanted one, in nano-USD; what names the
// price.
func Price(report *rule.Report, code, what string, got offerings.Price, want *big.Int) {
	if want.Cmp(big.NewInt(int64(got))) != 0 {
		report.Add(code, "summary", "%s is $%v, want $%s", what, got, snapshot.USD(want))
	}
}

// Bound checks lower bound, gap and status of a summary for a plan of that price. The gap is the share of the bound by
// which the price exceeds it, 0 for a bound of 0.
func Bound(report *rule.Report, price, bound offerings.Price, gap float64, status scheduling.Status) {
	if bound < 0 || bound > price {
		report.Add(rule.BoundAbovePrice, "summary", "lower bound is $%v, and the price $%v", bound, price)
	}
	want := 0.0
	if bound != 0 {
		want = float64(price-bound) / float64(bound)
	}
	if !Alike(gap, want) {
		report.Add(rule.SummaryGap, "summary", "gap is %v, want %v", gap, want)
	}
	switch status {
	case scheduling.StatusComplete, scheduling.StatusDeadline:
	case scheduling.StatusOptimal:
		if price != bound {
			report.Add(rule.SummaryStatus, "summary", "status is optimal with price $%v and lower bound $%v", price, bound)
		}
	default:
		report.Add(rule.SummaryStatus, "summary", "unknown status %q", status)
	}
}

// Alike reports whether two sums or quotients of fractions are equal but for rounding, i.e. within one part in a billion.
// Numbers below 1 are compared as if they were 1. An infinite number is like no other.
func Alike(a, b float64) bool {
	apart := math.Abs(a - b)
	return a == b || apart <= 1e-9*max(1, math.Abs(a), math.Abs(b)) && !math.IsInf(apart, 0)
}
