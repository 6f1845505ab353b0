package billing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// OfferBreakEven compares nodes of an instance family with a commitment on offer for all of them.
type OfferBreakEven struct {
	// Offer is the id of the commitment, Family the instance family.
	Offer  string `json:"offer"`
	Family string `json:"family"`
	// Nodes is the number of nodes that it would cover.
	Nodes int `json:"nodes"`
	// PricePerHour is the part of their price that no other commitment covers, CostPerHour the price of the commitment for it.
	PricePerHour offerings.Price `json:"pricePerHour"`
	CostPerHour  offerings.Price `json:"costPerHour"`
	// HoursPerMonth is the number of hours from which on the commitment costs less, if the nodes run so long in each month of
	// [offerings.HoursPerMonth].
	HoursPerMonth int64 `json:"hoursPerMonth"`
	// SavingPerMonth is the saving if the nodes run for the whole month.
	SavingPerMonth offerings.Price `json:"savingPerMonth"`
}

// BreakEvens compares the nodes of a bill with commitments that are on offer, by offer and instance family: those that save something
// if the nodes run for whole months, the highest saving first. The bill must be the one of the usages ([Settle]). Savings of several offers do not
// add up, because each is for all nodes.
func BreakEvens(bill *Bill, usages []Usage, offers []Commitment) []OfferBreakEven {
	var list []OfferBreakEven
	for i := range offers {
		c := &offers[i]
		rates, at := c.index(), map[string]int{}
		for n := range usages {
			d, ok := c.demand(&usages[n], rates)
			if !ok || n >= len(bill.Nodes) || bill.Nodes[n].Uncovered <= 0 {
				continue
			}
			open := bill.Nodes[n].Uncovered
			cost := offerings.Price(scaled(int64(d.amount), int64(open), int64(d.price), true))
			if c.Kind == ReservedInstances {
				cost = offerings.Price(scaled(int64(c.CostPerHour), int64(cost), nano, true))
			}
			family := FamilyOf(usages[n].InstanceType)
			if _, known := at[family]; !known {
				at[family] = len(list)
				list = append(list, OfferBreakEven{Offer: c.ID, Family: family})
			}
			w := &list[at[family]]
			w.Nodes++
			w.PricePerHour, w.CostPerHour = offerings.Sum(w.PricePerHour, open), offerings.Sum(w.CostPerHour, cost)
		}
	}
	list = slices.DeleteFunc(list, func(w OfferBreakEven) bool { return w.CostPerHour >= w.PricePerHour })
	for i := range list {
		w := &list[i]
		w.HoursPerMonth = scaled(offerings.HoursPerMonth, int64(w.CostPerHour), int64(w.PricePerHour), true)
		w.SavingPerMonth, _ = (w.PricePerHour - w.CostPerHour).Times(offerings.HoursPerMonth)
	}
	slices.SortStableFunc(list, func(a, b OfferBreakEven) int {
		return cmp.Or(cmp.Compare(b.SavingPerMonth, a.SavingPerMonth), strings.Compare(a.Family, b.Family), strings.Compare(a.Offer, b.Offer))
	})
	return list
}
