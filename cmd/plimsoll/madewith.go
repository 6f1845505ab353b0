package main

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// madeWith says what the prices are and from when.
func (p *problem) madeWith() string {
	text := pricelists.Dates(p.catalog, p.assumed)
	if n := len(p.Overlays); n > 0 {
		text += ", changed by " + figures.Count(n, "NodeOverlay")
	}
	return text + "."
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
