package bills

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Part is a row of a bill for people, in USD per hour before and after a plan; below 0 where it is taken off.
type Part struct {
	Name          string
	Before, After offerings.Price
}

// Parts are the rows of a bill, which add up to the last, the bill. Without discounts or commitments there are no rows for them.
func Parts(c *billing.Statement) []Part {
	parts := []Part{{"list prices", c.Before.List, c.After.List}}
	if c.Before.Discounts+c.After.Discounts > 0 {
		parts = append(parts, Part{"discounts", -c.Before.Discounts, -c.After.Discounts})
	}
	if len(c.After.Commitments) > 0 {
		parts = append(parts,
			Part{"covered by commitments", -c.Before.Covered, -c.After.Covered},
			Part{"commitments, used or not", c.Before.Committed, c.After.Committed})
	}
	return append(parts, Part{"bill", c.Before.PerHour, c.After.PerHour})
}

// Notes are sentences about prices that a bill lacks, without costs beside the cloud's.
func Notes(b *billing.Bill) (notes []string) {
	if b.Unpriced > 0 {
		notes = append(notes, fmt.Sprintf("The price of %s is not known, and not part of the bill.", figures.Count(b.Unpriced, "commitment")))
	}
	if n := len(b.UnpricedNodes); n > 0 {
		notes = append(notes, fmt.Sprintf("%s of unknown price, not part of the bill: %s.", figures.Count(n, "node"), figures.Names(b.UnpricedNodes, 3)))
	}
	return notes
}

// Amount writes an amount of a commitment, rounded to four decimals.
func Amount(n billing.Units) string {
	const tenThousandth = 100_000
	return ((n + tenThousandth/2) / tenThousandth * tenThousandth).String()
}
