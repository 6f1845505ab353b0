package scheduling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// barred reports whether the catalog of a pool's own is what keeps an offer from being
// launched: elsewhere it is on sale. Node classes make such catalogs.
func (s *scene) barred(pool string, x *offer) bool {
	if s.problem.PoolCatalogs[pool] == nil {
		return false
	}
	it, ok := s.problem.Catalog.Get(x.instanceType.Name)
	return ok && slices.ContainsFunc(it.Offerings, func(o offerings.Offering) bool {
		return o.Zone == x.offering.Zone && o.CapacityType == x.offering.CapacityType && o.ReservationID == x.offering.ReservationID && o.Launchable()
	})
}

// notOnSale is why an offer of a pool cannot be launched.
func (s *scene) notOnSale(pool string, x *offer) Reason {
	detail := "offerings are not on sale now"
	if s.barred(pool, x) {
		detail = "the node class or the catalog of node pool " + pool + " leaves offerings out"
	}
	return Reason{Code: ReasonUnavailable, Detail: detail}
}

// putOnSale is the change that lets an offer of a pool be launched.
func (s *scene) putOnSale(pool string, x *offer) Change {
	if o := x.offering; o.CapacityType == offerings.Reserved && o.ReservationCount < 1 && !o.Unavailable {
		return raiseReservation(o.ReservationID)
	}
	name := fmt.Sprintf("%s/%s/%s", x.instanceType.Name, x.offering.Zone, x.offering.CapacityType)
	words := strings.ReplaceAll(name, "/", " ")
	text := "wait until " + words + " is on sale again"
	if s.barred(pool, x) {
		text = "let the node class or the catalog of node pool " + pool + " have " + words
	}
	return Change{Kind: ChangeOffering, Object: name, Text: text}
}
