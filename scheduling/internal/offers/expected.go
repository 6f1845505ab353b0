package offers

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Expects reports whether machines cost something beside their prices.
func Expects(s *scheduling.Policy) bool { return s.NodeOverhead > 0 || s.Interruption.On() }

// Objective is what the search minimised, as the plan's sums state it.
func Objective(s *scheduling.Policy, sums *scheduling.Summary) offerings.Price {
	if Expects(s) {
		return sums.ExpectedPerHour
	}
	return sums.PricePerHour
}
