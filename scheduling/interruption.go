package scheduling

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Interruption says what it costs when a spot machine is taken away: work that is lost
// and done again, a start that is paid for twice, a person who looks. The search then
// minimises the expected price: what machines cost, and what their interruptions are
// expected to cost in the same hour,
//
//	price + (PerNode + PerCore × cores) × rate ÷ 730
//
// with the cores of the machine's whole capacity and the offering's interruption rate
// in a month; see [offerings.InterruptionsPerHour] for the 730 and
// [offerings.Offering.InterruptionCost] for the rounding. Options are ranked by it, and
// lower bound and gap are about it. The ranking's strategy takes the expected price for
// the price. The zero value leaves interruptions out of account.
type Interruption struct {
	// PerNode is lost with a machine of whatever size, in USD for each interruption.
	PerNode offerings.Amount
	// PerCore is lost in addition for each core of the machine's capacity.
	PerCore offerings.Amount
	// UnstatedRate is the monthly rate, 0 to 1, that spot offerings are taken to have
	// which state none; 0 takes them for never interrupted.
	UnstatedRate float64
}

// on reports whether interruptions count.
func (i Interruption) on() bool { return i.PerNode > 0 || i.PerCore > 0 }

// validate lists what is wrong.
func (i Interruption) validate() []error {
	var faults []error
	if i.PerNode < 0 {
		faults = append(faults, fmt.Errorf("solver.interruption.perNode: %s: must not be negative", i.PerNode))
	}
	if i.PerCore < 0 {
		faults = append(faults, fmt.Errorf("solver.interruption.perCore: %s: must not be negative", i.PerCore))
	}
	if !(i.UnstatedRate >= 0 && i.UnstatedRate <= 1) { // so that NaN fails too
		faults = append(faults, fmt.Errorf("solver.interruption.unstatedRate: %v: want a share from 0 to 1", i.UnstatedRate))
	} else if i.UnstatedRate > 0 && !i.on() {
		faults = append(faults, fmt.Errorf("solver.interruption.unstatedRate: %v: counts only where an interruption costs something", i.UnstatedRate))
	}
	return faults
}

// expected is the expected price of an offering of a type.
func (i Interruption) expected(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
	if !i.on() || o.CapacityType != offerings.Spot {
		return o.Price
	}
	cpu, ok := o.Capacity[corev1.ResourceCPU]
	if !ok {
		cpu = t.Capacity[corev1.ResourceCPU]
	}
	rated := *o
	if rated.InterruptionRate == 0 {
		rated.InterruptionRate = i.UnstatedRate
	}
	return addPrice(o.Price, rated.InterruptionCost(i.PerNode.Plus(i.PerCore.PerThousand(cpu.MilliValue()))))
}

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
func (s *Solver) objective(sums *Summary) offerings.Price {
	if s.Interruption.on() {
		return sums.ExpectedPerHour
	}
	return sums.PricePerHour
}
