package offers

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Option is the offer as launches list it.
func (o *Offer) Option() scheduling.Option {
	return scheduling.Option{
		InstanceType: o.InstanceType.Name, Zone: o.Offering.Zone, CapacityType: o.Offering.CapacityType,
		Price: o.Offering.Price, ReservationID: o.Offering.ReservationID, InterruptionRate: o.Offering.InterruptionRate,
		Estimated: o.Offering.Estimated,
	}
}
