package main

import (
	"fmt"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// madeWith says what the prices are and from when.
func (p *problem) madeWith() string {
	text := priceDates(p.catalog, p.assumed)
	if n := len(p.Overlays); n > 0 {
		text += ", changed by " + figures.Count(n, "NodeOverlay")
	}
	return text + "."
}

// priceDates says which catalog is bought from and from when its prices are.
func priceDates(c *instancetypes.Catalog, assumed bool) string {
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
		}
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

// datesOf says from when the prices on demand and those of spot are, where a sentence
// compares them and they differ.
func (t *table) datesOf() (onDemand, spot string) {
	dates := map[offerings.CapacityType]string{}
	for _, o := range t.catalog.Origin().Prices {
		dates[o.CapacityType] = max(dates[o.CapacityType], o.Date)
	}
	buys := false
	for _, share := range t.plan.Summary.CapacityTypes {
		buys = buys || share.Name == string(offerings.Spot)
	}
	onDemand, spot = dates[offerings.OnDemand], dates[offerings.Spot]
	if !buys || onDemand == spot || onDemand == "" || spot == "" {
		return "", ""
	}
	return fmt.Sprintf(" at prices of %s", onDemand), fmt.Sprintf(", at spot prices of %s,", spot)
}
