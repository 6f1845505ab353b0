package pricelists

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Dates names a catalog with the dates of its prices by capacity type. Prices that are at least two months
// old on the given day have their age. assumed says that neither a flag nor the input names the catalog.
func Dates(origin instancetypes.Origin, assumed bool, today time.Time) string {
	parts := []string{origin.Name}
	if assumed {
		parts[0] += " (assumed: the input names no region)"
	}
	for _, of := range lo.PartitionBy(origin.Prices, func(o instancetypes.PriceOrigin) offerings.CapacityType { return o.CapacityType }) {
		parts = append(parts, dated(of, today))
	}
	if len(origin.Prices) == 0 {
		parts = append(parts, "of unknown date")
	}
	return "Prices: " + figures.Join(parts)
}

// Outdated are the capacity types of which no price is less than a year old on the given day; prices of unknown date are
// not counted.
func Outdated(c *instancetypes.Catalog, today time.Time) (types []string) {
	newest := map[offerings.CapacityType]string{}
	for _, o := range c.Origin().Prices {
		newest[o.CapacityType] = max(newest[o.CapacityType], o.Date)
	}
	for _, name := range slices.Sorted(maps.Keys(newest)) {
		if age(newest[name], today) >= 12 {
			types = append(types, string(name))
		}
	}
	return types
}

// dated writes the date of the prices of one capacity type.
func dated(list []instancetypes.PriceOrigin, today time.Time) string {
	first := list[0]
	text := string(first.CapacityType) + " by " + first.Source
	if first.Date != "" {
		text = string(first.CapacityType) + " as of " + first.Date
	}
	var notes []string
	if months := age(first.Date, today); months >= 2 {
		notes = append(notes, fmt.Sprintf("%d months old", months))
	}
	if first.Estimated {
		notes = append(notes, "estimated")
	}
	for _, o := range list[1:] {
		switch {
		case o.Date == "":
			notes = append(notes, "changed by "+o.Source)
		case o.Estimated:
			notes = append(notes, "some estimated as of "+o.Date)
		case o.Date != first.Date:
			notes = append(notes, "some as of "+o.Date)
		case o.Source != first.Source:
			notes = append(notes, "changed by "+o.Source)
		}
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

// age is the number of whole months from a date (YYYY-MM-DD) to a day, 0 if the date is not known.
func age(date string, today time.Time) int {
	from, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0
	}
	months := 12*(today.Year()-from.Year()) + int(today.Month()) - int(from.Month())
	if today.Day() < from.Day() {
		months--
	}
	return months
}
