package steps

import (
	"fmt"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Reason writes a cause with the object that it is about.
func Reason(c *disruption.Cause) string {
	if c.Object == "" || strings.Contains(c.Detail, c.Object) {
		return c.Detail
	}
	return c.Object + ": " + c.Detail
}

// Rejected writes the best move for a node that was not made, and its cause; the cause is "" if it is written elsewhere.
func Rejected(node string, r *disruption.RejectedMove, because string) string {
	var b strings.Builder
	b.WriteString("best move: remove it")
	if others := lo.Without(r.Drain, node); len(others) > 0 {
		fmt.Fprintf(&b, " with %s", figures.Names(others, 3))
	}
	if len(r.Launches) > 0 {
		fmt.Fprintf(&b, " and launch %s for %s per hour", launches.Bundle(r.Launches, 3), figures.USD(r.PricePerHour))
	}
	if r.SavingPerHour < 0 {
		fmt.Fprintf(&b, "; that costs %s per hour more", figures.USD(-r.SavingPerHour))
	} else {
		fmt.Fprintf(&b, "; that saves %s per hour", figures.USD(r.SavingPerHour))
	}
	fmt.Fprintf(&b, ", disruption %s", figures.Decimal(r.DisruptionCost))
	if because != "" {
		fmt.Fprintf(&b, ", but %s", because)
	}
	return b.String()
}
