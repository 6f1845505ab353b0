package billing

import (
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Usage is a node that is billed.
type Usage struct {
	// Name names the node, for ties.
	Name string
	// InstanceType, Zone and CapacityType are those of its offering.
	InstanceType string
	Zone         string
	CapacityType offerings.CapacityType
	// Price is the price of the node per hour without commitments, and Discount the part of the list price that discounts
	// have taken off it.
	Price    offerings.Price
	Discount offerings.Price
	// MilliCPU and MemoryMiB are the size of its instance type, for commitments that count them.
	MilliCPU  int64
	MemoryMiB int64
}

// demand is a usage as a commitment sees it: the amount that it takes of the commitment if all of it is covered,
// and the part of the list price that the commitment then pays.
type demand struct {
	usage  int
	amount Units
	price  offerings.Price
}

// demand returns the amount that a usage takes of the commitment, and whether the commitment covers it.
func (c *Commitment) demand(u *Usage, rates rateIndex) (d demand, ok bool) {
	if !c.covers(u) {
		return d, false
	}
	d.price = u.Price
	switch c.Kind {
	case ReservedInstances:
		d.amount = nano
		if u.InstanceType != c.InstanceType {
			d.amount = sizeRatio(u.InstanceType, c.InstanceType)
		}
		return d, d.amount > 0
	case VCPUs:
		return c.part(u, Units(u.MilliCPU)*(nano/1000))
	case MemoryGiB:
		return c.part(u, Units(scaled(u.MemoryMiB, nano, 1024, true)))
	case SavingsPlan:
		rate, known := c.rate(u, rates)
		d.amount = Units(rate)
		return d, known && rate < u.Price
	}
	return d, false
}

// part is the demand of a usage for one of the two resources of a committed-use discount.
func (c *Commitment) part(u *Usage, amount Units) (d demand, ok bool) {
	price := offerings.Price(scaled(int64(c.UnitPrice), int64(amount), nano, false))
	return demand{amount: amount, price: min(price, u.Price)}, amount > 0 && price > 0
}
