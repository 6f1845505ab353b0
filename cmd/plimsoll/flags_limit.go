package main

import (
	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// limitFlag is a price above which the command exits with exitAbove.
type limitFlag struct {
	perHour offerings.Price
	text    string
	what    string
}

// register adds the flag to a command; what names the price that is compared with the limit.
func (f *limitFlag) register(cmd *cobra.Command, what string) {
	f.what = what
	textFlag(cmd.Flags(), "fail-above", "exit with 4 if "+what+" more than `AMOUNT` in USD, such as 500/month or 0.70/hour; the output stays the same", func(text string) error {
		f.text = text
		price, month, err := figures.ParseRate(text)
		if f.perHour = price; month {
			f.perHour = price / offerings.HoursPerMonth
		}
		return err
	})
	grouped(cmd, groupOutput)
}

// check compares a price per hour with the amount, and says where it is above it. Pods without
// a place are the worse news.
func (f *limitFlag) check(a *app, price offerings.Price) {
	if f.text == "" || price <= f.perHour {
		return
	}
	a.say("--fail-above %s: %s %s a month", f.text, f.what, figures.Monthly(price))
	if a.code == exitOK {
		a.code = exitAbove
	}
}
