package scheduling

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// ExpectedPrice is what a machine of a type that is bought at an offering is expected to
// cost per hour, all in all: the price of the offering, [Policy.NodeOverhead], and what its
// interruptions cost ([Policy.Interruption]); at most [offerings.MaxPrice].
//
// The search minimises it, options are ranked by it, and lower bound and gap are about it.
// The ranking's strategy takes it for the price.
func (s Policy) ExpectedPrice(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
	return addPrice(addPrice(o.Price, s.NodeOverhead), s.Interruption.cost(t, o))
}

// expects reports whether machines cost something beside their prices.
func (s *Policy) expects() bool { return s.NodeOverhead > 0 || s.Interruption.on() }

// expected sums up the expected prices of a plan's launches.
func (c *compiler) expected(plan *Plan) offerings.Price {
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
		sum = addPrice(sum, price)
	}
	return sum
}

// expectedOf is the expected price of an option of a pool's launches.
func (c *compiler) expectedOf(pool string, o *Option) offerings.Price {
	span := c.offers.spans[c.problem.catalogOf(pool)]
	for i := span[0]; i < span[1]; i++ {
		x := &c.offers.offers[i]
		if x.instanceType.Name == o.InstanceType && x.offering.Zone == o.Zone &&
			x.offering.CapacityType == o.CapacityType && x.offering.ReservationID == o.ReservationID {
			return x.expected
		}
	}
	return o.Price
}

// objective is what the search minimised, as the plan's sums state it.
func (s *Policy) objective(sums *Summary) offerings.Price {
	if s.expects() {
		return sums.ExpectedPerHour
	}
	return sums.PricePerHour
}
