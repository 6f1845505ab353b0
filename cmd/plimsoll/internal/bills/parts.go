package bills

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/samber/lo"

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

// OfferColumns are the titles of the columns of [Offers].
func OfferColumns() []string {
	return []string{"OFFER", "FAMILY", "NODES", "$/HOUR", "COMMITTED $/HOUR", "PAYS FROM HOURS/MONTH", "SAVES $/MONTH"}
}

// Offers are rows for the commitments on offer that would save something, as texts.
func Offers(c *billing.Statement) [][]string {
	return lo.Map(c.Offers, func(w billing.OfferBreakEven, _ int) []string {
		return []string{w.Offer, w.Family, strconv.Itoa(w.Nodes), figures.Plain(w.PricePerHour), figures.Plain(w.CostPerHour), strconv.FormatInt(w.HoursPerMonth, 10), figures.PlainMonthly(w.PricePerHour - w.CostPerHour)}
	})
}

// OfferNotes are sentences about commitments on offer.
func OfferNotes(c *billing.Statement) (notes []string) {
	if len(c.Offers) > 0 {
		notes = append(notes, fmt.Sprintf("SAVES is for nodes that run all %d hours of a month. Savings of several offers do not add up.", offerings.HoursPerMonth))
	}
	if len(c.OffersWithoutSaving) > 0 {
		notes = append(notes, fmt.Sprintf("On offer, without a saving for these nodes: %s.", figures.Names(c.OffersWithoutSaving, 5)))
	}
	return notes
}

// Notes are sentences about prices that a bill lacks, without costs beside the cloud's.
func Notes(b *billing.Bill) (notes []string) {
	if b.Unpriced > 0 {
		notes = append(notes, fmt.Sprintf("The price of %s is not known, and not part of the bill.", figures.Count(b.Unpriced, "commitment")))
	}
	var unused billing.Units
	for i := range b.Reservations {
		unused += b.Reservations[i].Unused
	}
	if unused > 0 {
		notes = append(notes, fmt.Sprintf("List prices contain %s of capacity reservations.", figures.Count(int(unused.Float()), "unused node")))
	}
	if n := len(b.UnpricedNodes); n > 0 {
		notes = append(notes, fmt.Sprintf("%s of unknown price, not part of the bill: %s.", figures.Count(n, "node"), figures.Names(b.UnpricedNodes, 3)))
	}
	return notes
}

// Uses are the uses of the capacity reservations and commitments of a bill.
func Uses(b *billing.Bill) []billing.Use { return slices.Concat(b.Reservations, b.Commitments) }

// Amount writes an amount of a commitment, rounded to four decimals.
func Amount(n billing.Units) string {
	const tenThousandth = 100_000
	return ((n + tenThousandth/2) / tenThousandth * tenThousandth).String()
}
