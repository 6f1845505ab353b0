package typos

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// OutOfStock warns of inventories, e.g. racks, without a count: their offerings have a reservationID, none has a reservationCount, and no
// node draws on them. Capacity reservations of a cloud may have nothing left, and are no typos.
func OutOfStock(p *scheduling.Problem) (out []scheduling.Warning) {
	left, closed := map[string]bool{}, map[string]int{}
	for _, node := range p.Nodes {
		left[instancetypes.OfferingOf(node).ReservationID] = true
	}
	for t := range p.Catalog.All() {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if o.ReservationCount > 0 {
				left[o.ReservationID] = true
			} else if o.Counted() && o.CapacityType != offerings.Reserved {
				closed[o.ReservationID]++
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(closed)) {
		if !left[id] {
			out = append(out, scheduling.Warning{Object: "reservation/" + id, Message: fmt.Sprintf(
				"nothing is left of it, so that no node is launched from its offerings (%d): none has a reservationCount above 0", closed[id])})
		}
	}
	return out
}
