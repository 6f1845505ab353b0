package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// barred reports whether the catalog of a pool's own is what keeps an offer from being
// launched: elsewhere it is on sale. Node classes make such catalogs.
func (s *scene) barred(pool string, x *offers.Offer) bool {
	if s.Problem.PoolCatalogs[pool] == nil {
		return false
	}
	it, ok := s.Problem.Catalog.Get(x.InstanceType.Name)
	return ok && slices.ContainsFunc(it.Offerings, func(o offerings.Offering) bool {
		return o.Zone == x.Offering.Zone && o.CapacityType == x.Offering.CapacityType && o.ReservationID == x.Offering.ReservationID && o.Launchable()
	})
}

// notOnSale is why an offer of a pool cannot be launched.
func (s *scene) notOnSale(pool string, x *offers.Offer) scheduling.Reason {
	detail := "offerings are not on sale now"
	if s.barred(pool, x) {
		detail = "the node class or the catalog of node pool " + pool + " leaves offerings out"
	}
	return scheduling.Reason{Code: scheduling.ReasonUnavailable, Detail: detail}
}

// putOnSale is the change that lets an offer of a pool be launched.
func (s *scene) putOnSale(pool string, x *offers.Offer) scheduling.Change {
	if o := x.Offering; o.CapacityType == offerings.Reserved && o.ReservationCount < 1 && !o.Unavailable {
		return raiseReservation(o.ReservationID)
	}
	name := fmt.Sprintf("%s/%s/%s", x.InstanceType.Name, x.Offering.Zone, x.Offering.CapacityType)
	words := strings.ReplaceAll(name, "/", " ")
	text := "wait until " + words + " is on sale again"
	if s.barred(pool, x) {
		text = "let the node class or the catalog of node pool " + pool + " have " + words
	}
	return scheduling.Change{Kind: scheduling.ChangeOffering, Object: name, Text: text}
}
