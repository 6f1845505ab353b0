package compile

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Expected sums up the expected prices of a plan's launches.
func (c *Compiler) Expected(plan *scheduling.Plan) offerings.Price {
	type sale struct {
		pool string
		key  offerings.Key
	}
	known := map[sale]offerings.Price{}
	sum := offerings.Price(0)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		s := sale{l.NodePool, l.Options[0].Key()}
		price, ok := known[s]
		if !ok {
			price = c.expectedOf(l.NodePool, &l.Options[0])
			known[s] = price
		}
		sum = offerings.Sum(sum, price)
	}
	return sum
}

// expectedOf is the expected price of an option of a pool's launches.
func (c *Compiler) expectedOf(pool string, o *scheduling.Option) offerings.Price {
	span := c.Offers.Spans[c.Problem.CatalogOf(pool)]
	for i := span[0]; i < span[1]; i++ {
		x := &c.Offers.Offers[i]
		if x.InstanceType.Name == o.InstanceType && x.Offering.Zone == o.Zone &&
			x.Offering.CapacityType == o.CapacityType && x.Offering.ReservationID == o.ReservationID {
			return x.Expected
		}
	}
	return o.Price
}
