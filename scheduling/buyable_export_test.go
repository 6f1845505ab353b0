package scheduling

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// CheckBuyable compiles a problem and looks in what the bound says may be bought for a
// stand-in for everything on sale: no dearer, with at least the room, for at least the
// same pods. It returns how many offers were left out.
func CheckBuyable(p *Problem, s *Solver) (dropped int, err error) {
	c := compile(p, s, false)
	placed := make([]int64, len(c.model.Classes))
	for i := range placed {
		placed[i] = c.model.Classes[i].Count
	}
	pr := c.newProver(placed)
	kept := pr.buyable()
	for list := range pr.sold() {
		for _, o := range list {
			x := pr.offers.offers[o.offer].offering
			stands := func(k templateOffer) bool {
				y := pr.offers.offers[k.offer].offering
				if x.CapacityType == offerings.Reserved || y.CapacityType == offerings.Reserved {
					return k == o
				}
				return y.Price <= x.Price && roomier(pr.rooms.rooms[k.room], pr.rooms.rooms[o.room]) &&
					pr.columns.rows[k.column].Contains(pr.columns.rows[o.column])
			}
			if !slices.ContainsFunc(kept, stands) {
				return 0, fmt.Errorf("nothing stands in for %+v at %v", o, x.Price)
			}
		}
		dropped += len(list)
	}
	return dropped - len(kept), nil
}
