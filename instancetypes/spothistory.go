package instancetypes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// spotPrice is an entry of EC2's spot price history: what machines cost from a time on.
type spotPrice struct {
	AvailabilityZone   string
	AvailabilityZoneID string `json:"AvailabilityZoneId"`
	InstanceType       string
	ProductDescription string
	SpotPrice          string
	Timestamp          time.Time
}

// history reads a spot price history: the newest price of each type in each zone.
func (p *priceReader) history(list []spotPrice) {
	type place struct{ zone, id, instanceType string }
	newest := map[place]*spotPrice{}
	other := map[string]int{}
	for i := range list {
		s := &list[i]
		switch s.ProductDescription {
		case "Linux/UNIX", "Linux/UNIX (Amazon VPC)":
		default:
			other[s.ProductDescription]++
			continue
		}
		at := place{s.AvailabilityZone, s.AvailabilityZoneID, s.InstanceType}
		if n := newest[at]; n == nil || s.Timestamp.After(n.Timestamp) {
			newest[at] = s
		}
	}
	places := slices.SortedFunc(maps.Keys(newest), func(a, b place) int {
		return cmp.Or(strings.Compare(a.instanceType, b.instanceType), strings.Compare(a.zone, b.zone), strings.Compare(a.id, b.id))
	})
	var last time.Time
	for _, at := range places {
		s := newest[at]
		x := PriceChange{InstanceType: at.instanceType, Zone: at.zone, ZoneID: at.id, CapacityType: offerings.Spot}
		_, err := offerings.ParsePrice(s.SpotPrice)
		if err == nil {
			x.Price, err = offerings.ParseAdjustment(s.SpotPrice)
		}
		if err != nil || at.instanceType == "" || at.zone == "" && at.id == "" {
			problem := "has no zone or no instance type"
			if err != nil {
				problem = reason(err)
			}
			p.fs.add(&Fault{Type: at.instanceType, Field: "SpotPriceHistory: SpotPrice in " + at.zone, Value: s.SpotPrice, Problem: problem, Err: err})
			continue
		}
		p.prices.Changes = append(p.prices.Changes, x)
		if s.Timestamp.After(last) {
			last = s.Timestamp
		}
	}
	if !last.IsZero() {
		p.prices.Date = last.UTC().Format(time.DateOnly)
	}
	if len(other) > 0 {
		var parts []string
		for _, product := range slices.Sorted(maps.Keys(other)) {
			parts = append(parts, fmt.Sprintf("%d of %q", other[product], product))
		}
		p.prices.Warnings = append(p.prices.Warnings, "left out are prices that are not of Linux: "+strings.Join(parts, ", "))
	}
	if len(list) > 0 && len(places) == 0 {
		p.fs.add(&Fault{Field: "SpotPriceHistory", Problem: "has no price of Linux machines"})
	}
}
