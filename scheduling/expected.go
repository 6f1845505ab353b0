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
	return offerings.Sum(offerings.Sum(o.Price, s.NodeOverhead), s.Interruption.cost(t, o))
}
