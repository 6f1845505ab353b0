package ec2

import (
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// place is a zone with what its offerings have in common. Labels are shared between
// offerings until the catalog copies them.
type place struct {
	zone   string
	labels map[string]string
}

// places maps the letter of a zone to the zone.
type places map[byte]place

func placesOf(region ec2facts.Region) places {
	p := make(places, len(region.Zones))
	for _, z := range region.Zones {
		here := place{zone: region.Name + string(z.Letter)}
		if z.ID != "" {
			here.labels = map[string]string{labelZoneID: z.ID}
		}
		p[z.Letter] = here
	}
	return p
}

// offerings lists how a type is sold. The spot prices belong to its zones in order,
// as far as they go; which of several zones they belong to is assigned.
func (p places) offerings(row ec2facts.Row) []offerings.Offering {
	var estimated []string
	if row.List == ec2facts.DedicatedList {
		estimated = append(estimated, "price")
	}
	if row.Assumed {
		estimated = append(estimated, "unavailable")
	}
	list := make([]offerings.Offering, 0, len(row.Zones)+len(row.Spot))
	var assigned []string
	if len(row.Zones) > 1 {
		assigned = []string{"zone"}
	}
	for i := range len(row.Zones) {
		here := p[row.Zones[i]]
		list = append(list, offerings.Offering{
			Zone: here.zone, CapacityType: offerings.OnDemand, Price: row.OnDemand,
			Labels: here.labels, Estimated: estimated,
		})
		if i < len(row.Spot) {
			list = append(list, offerings.Offering{
				Zone: here.zone, CapacityType: offerings.Spot, Price: row.Spot[i],
				InterruptionRate: row.Band.Rate(), Labels: here.labels, Estimated: assigned,
			})
		}
	}
	return list
}
