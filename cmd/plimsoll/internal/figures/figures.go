package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/constraints"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// USD writes a price per hour: four decimals, of large sums two.
func USD(p offerings.Price) string {
	if p.USD() >= 100 {
		return "$" + Thousands(fmt.Sprintf("%.2f", p.USD()))
	}
	return fmt.Sprintf("$%.4f", p.USD())
}

// Exact writes a price with all of its nine decimals, so that prices can be added up. It is at least 14 characters wide.
func Exact(p offerings.Price) string {
	return fmt.Sprintf("%14s", new(big.Rat).SetFrac64(int64(p), 1e9).FloatString(9))
}

// Nothing reports that a price is written as zero, because a share of zero means nothing.
func Nothing(p offerings.Price) bool { return USD(p) == USD(0) }

// Monthly writes a price per hour as the price of a month, by way of [Cents], so that it equals the same price in cents.
func Monthly(p offerings.Price) string { return Dollars(Cents(p)) }

// Cents is a price per hour in cents per month, rounded.
func Cents(p offerings.Price) int64 {
	const cent = 10_000_000 // nano-USD
	whole, rest := int64(p)/cent, int64(p)%cent
	half := int64(cent / 2)
	if rest < 0 {
		half = -half
	}
	return whole*offerings.HoursPerMonth + (rest*offerings.HoursPerMonth+half)/cent
}

// Dollars writes cents as whole dollars, and to the cent below $100.
func Dollars(cents int64) string {
	switch {
	case cents < 0:
		return "−" + Dollars(-cents)
	case cents < 100_00:
		return DollarsAndCents(cents)
	}
	return "$" + Thousands(fmt.Sprint((cents+50)/100))
}

// DollarsAndCents writes cents as dollars, to the cent.
func DollarsAndCents(cents int64) string {
	if cents < 0 {
		return "−" + DollarsAndCents(-cents)
	}
	return fmt.Sprintf("$%s.%02d", Thousands(fmt.Sprint(cents/100)), cents%100)
}

// Thousands puts commas into a decimal number that is not negative.
func Thousands(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return whole + rest
}

// Percent writes a share of 1, with a decimal where it is small.
func Percent(share float64) string {
	switch p := share * 100; {
	case p == 0:
		return "0%"
	case math.Abs(p) < 0.1:
		return "less than 0.1%"
	case math.Abs(p) < 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0") + "%"
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}

// Within writes a share of 1 that something is within.
func Within(share float64) string { return strings.TrimPrefix(Percent(share), "less than ") }

// Ratio writes a part of a whole in whole percent; without a whole there is none.
func Ratio(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// Cores writes millicores.
func Cores(milli int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", float64(milli)/1000), "0"), ".")
}

// GiB writes bytes in GiB.
func GiB(bytes int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/(1<<30)), ".0") + " GiB"
}

// Count writes a number of things: "1 pod", "2 pods".
func Count[N constraints.Integer](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", Thousands(fmt.Sprint(n)), thing)
}

// CountVerb begins a sentence about a number of things: "1 pod runs", "2 pods run".
func CountVerb[N constraints.Integer](n N, thing, one, many string) string {
	if n == 1 {
		return Count(n, thing) + " " + one
	}
	return Count(n, thing) + " " + many
}

// Are begins a sentence about a number of things: "1 pod is", "2 pods are".
func Are[N constraints.Integer](n N, thing string) string { return CountVerb(n, thing, "is", "are") }

// Join puts commas between words.
func Join(words []string) string { return strings.Join(words, ", ") }

// Names writes names, and how many more there are.
func Names(list []string, most int) string {
	switch {
	case len(list) == 0:
		return "-"
	case len(list) > most+1:
		return Join(append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most)))
	}
	return Join(list)
}

// Summarise writes counted names, the most first, and how many more there are.
func Summarise(counts map[string]int, most int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		if counts[name] > 1 {
			name = fmt.Sprintf("%s ×%d", name, counts[name])
		}
		parts = append(parts, name)
	}
	return Join(parts)
}

// Signed writes a price that may be below 0.
func Signed(p offerings.Price) string {
	if p < 0 {
		return "-" + USD(-p)
	}
	return USD(p)
}

// PlainMonthly writes a price per hour, which may be below 0, as the price of a month, without the currency sign.
func PlainMonthly(p offerings.Price) string {
	if p < 0 {
		return "-" + PlainMonthly(-p)
	}
	return strings.TrimPrefix(Monthly(p), "$")
}

// Plain writes a price without its sign of currency.
func Plain(p offerings.Price) string { return strings.Replace(Signed(p), "$", "", 1) }

// Decimal writes a number with two decimals at most.
func Decimal(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// ChangeHourly writes by how much a price per hour has changed, with its sign.
func ChangeHourly(p offerings.Price) string {
	if p > 0 {
		return "+" + Plain(p)
	}
	return Plain(p)
}

// ChangeMonthly writes by how much a price has changed in a month, with its sign.
func ChangeMonthly(p offerings.Price) string {
	if p > 0 {
		return "+" + PlainMonthly(p)
	}
	return PlainMonthly(p)
}

// Change writes a change of price as a percentage of the whole.
func Change(p, whole offerings.Price) string {
	switch {
	case whole <= 0:
		return "-"
	case p > 0:
		return "+" + Percent(p.USD()/whole.USD())
	case p < 0:
		return "-" + Percent(-p.USD()/whole.USD())
	}
	return "0%"
}

// Difference writes by how much a price differs from another, as an aside.
func Difference(price, from offerings.Price) string {
	switch {
	case from <= 0:
		return ""
	case price == from:
		return ", the same"
	case price > from:
		return " (+" + Percent(price.USD()/from.USD()-1) + ")"
	default:
		return " (-" + Percent(1-price.USD()/from.USD()) + ")"
	}
}
