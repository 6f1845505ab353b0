package pricelists

import (
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Dates says which catalog is bought from and from when its prices are.
func Dates(c *instancetypes.Catalog, assumed bool) string {
	origin := c.Origin()
	parts := []string{origin.Name}
	if assumed {
		parts[0] += " (assumed: the input names no region)"
	}
	for _, of := range lo.PartitionBy(origin.Prices, func(o instancetypes.PriceOrigin) offerings.CapacityType { return o.CapacityType }) {
		parts = append(parts, fromWhen(of))
	}
	if len(origin.Prices) == 0 {
		parts = append(parts, "which does not say from when they are")
	}
	return "Prices: " + figures.Join(parts)
}

// fromWhen says from when the prices of one capacity type are.
func fromWhen(list []instancetypes.PriceOrigin) string {
	first := list[0]
	text := string(first.CapacityType) + " by " + first.Source
	if first.Date != "" {
		text = string(first.CapacityType) + " of " + first.Date
	}
	var notes []string
	if first.ZonesAssigned {
		notes = append(notes, "zones assigned")
	}
	for _, o := range list[1:] {
		switch {
		case o.Date == "":
			notes = append(notes, "changed by "+o.Source)
		case o.ZonesAssigned:
			notes = append(notes, "some of "+o.Date+" with zones assigned")
		case o.Date != first.Date:
			notes = append(notes, "some of "+o.Date)
		case o.Source != first.Source:
			notes = append(notes, "changed by "+o.Source)
		}
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}
