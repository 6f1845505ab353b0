package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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

// countVerb begins a sentence about a number of things: "1 pod runs", "2 pods run".
func countVerb[N constraints.Integer](n N, thing, one, many string) string {
	if n == 1 {
		return count(n, thing) + " " + one
	}
	return count(n, thing) + " " + many
}

// are begins a sentence about a number of things: "1 pod is", "2 pods are".
func are[N constraints.Integer](n N, thing string) string { return countVerb(n, thing, "is", "are") }

// join puts commas between words.
func join(words []string) string { return strings.Join(words, ", ") }

// names writes names, and how many more there are.
func names(list []string, most int) string {
	switch {
	case len(list) == 0:
		return "-"
	case len(list) > most+1:
		return join(append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most)))
	}
	return join(list)
}

// summarise writes counted names, the most first, and how many more there are.
func summarise(counts map[string]int, most int) string {
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
	return join(parts)
}

// signed writes a price that may be below 0.
func signed(p offerings.Price) string {
	if p < 0 {
		return "-" + usd(-p)
	}
	return usd(p)
}

// plainMonthly writes what a price that may be below 0 comes to in a month, without its sign
// of currency.
func plainMonthly(p offerings.Price) string {
	if p < 0 {
		return "-" + plainMonthly(-p)
	}
	return strings.TrimPrefix(monthly(p), "$")
}

// plain writes a price without its sign of currency.
func plain(p offerings.Price) string { return strings.Replace(signed(p), "$", "", 1) }

// decimal writes a number with two decimals at most.
func decimal(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
