package pricelists

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Dates names a catalog with the dates of its prices by capacity type. assumed says that neither a flag nor the input
// names the catalog.
func Dates(origin instancetypes.Origin, assumed bool) string {
	parts := []string{origin.Name}
	if assumed {
		parts[0] += " (assumed: the input names no region)"
	}
	for _, of := range lo.PartitionBy(origin.Prices, func(o instancetypes.PriceOrigin) offerings.CapacityType { return o.CapacityType }) {
		parts = append(parts, dated(of))
	}
	if len(origin.Prices) == 0 {
		parts = append(parts, "of unknown date")
	}
	return "Prices: " + figures.Join(parts)
}

// maxAge is the age from which prices are old.
const maxAge = 90 * 24 * time.Hour

// Old lists the capacity types that have no price of the last 90 days in some of the catalogs, with the age of their newest price:
// "on-demand 4 months, spot 18 months"; "" if there are none. Prices of unknown date are not counted.
func Old(today time.Time, catalogs ...instancetypes.Origin) string {
	ages := map[string]string{} // by capacity type
	oldest := map[string]string{}
	for _, origin := range catalogs {
		newest := map[string]string{}
		for _, o := range origin.Prices {
			name := string(o.CapacityType)
			newest[name] = max(newest[name], o.Date)
		}
		for name, date := range newest {
			from, err := time.Parse(time.DateOnly, date)
			if err == nil && today.Sub(from) > maxAge && (oldest[name] == "" || date < oldest[name]) {
				oldest[name], ages[name] = date, figures.Count(months(from, today), "month")
			}
		}
	}
	return strings.Join(lo.Map(slices.Sorted(maps.Keys(ages)), func(name string, _ int) string { return name + " " + ages[name] }), ", ")
}

// dated writes the date of the prices of one capacity type.
func dated(list []instancetypes.PriceOrigin) string {
	first := list[0]
	text := string(first.CapacityType) + " by " + first.Source
	if first.Date != "" {
		text = string(first.CapacityType) + " as of " + first.Date
	}
	var notes []string
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

// months is the number of whole months from one day to another.
func months(from, to time.Time) int {
	n := 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
	if to.Day() < from.Day() {
		n--
	}
	return n
}
