package figures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// The amount of a month is the same in tables, which have the price per hour, and in reports, which add up cents.
func TestMonthsAreRoundedOnce(t *testing.T) {
	for price, want := range map[string]string{
		"3.380135620": "$2,468", // 2,467.499 dollars, 246750 cents
		"0.136979452": "$99.99", "0.136986301": "$100", "0.02": "$14.60", "0": "$0.00",
	} {
		p := offerings.MustPrice(price)
		require.Equal(t, want, figures.Monthly(p), price)
		require.Equal(t, want, figures.Dollars(figures.Cents(p)), price)
	}
	require.Equal(t, "−$14.60", figures.Dollars(figures.Cents(-offerings.MustPrice("0.02"))))
}
