package main

import (
	"fmt"
	"math"
	"strings"

	"golang.org/x/exp/constraints"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// hoursPerMonth is what cloud providers take a month for.
const hoursPerMonth = 730

// usd writes a price per hour: four decimals, of large sums two.
func usd(p offerings.Price) string {
	if p.USD() >= 100 {
		return "$" + thousands(fmt.Sprintf("%.2f", p.USD()))
	}
	return fmt.Sprintf("$%.4f", p.USD())
}

// monthly writes what a price per hour comes to in a month.
func monthly(p offerings.Price) string {
	month := p.USD() * hoursPerMonth
	if month >= 100 {
		return "$" + thousands(fmt.Sprintf("%.0f", month))
	}
	return fmt.Sprintf("$%.2f", month)
}

// thousands puts commas into a decimal number that is not negative.
func thousands(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return whole + rest
}

// percent writes a share of 1, with a decimal where it is small.
func percent(share float64) string {
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

// above writes that something is not above a share of 1.
func above(share float64) string {
	if text := percent(share); strings.HasPrefix(text, "less") {
		return text
	}
	return "at most " + percent(share)
}

// ratio writes a part of a whole in whole percent; without a whole there is none.
func ratio(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// cores writes millicores.
func cores(milli int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", float64(milli)/1000), "0"), ".")
}

// gib writes bytes in GiB.
func gib(bytes int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/(1<<30)), ".0") + " GiB"
}

// count writes a number of things: "1 pod", "2 pods".
func count[N constraints.Integer](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", thousands(fmt.Sprint(n)), thing)
}

// are begins a sentence about a number of things: "1 pod is", "2 pods are".
func are[N constraints.Integer](n N, thing string) string {
	if n == 1 {
		return count(n, thing) + " is"
	}
	return count(n, thing) + " are"
}

// join puts commas between words.
func join(words []string) string { return strings.Join(words, ", ") }
