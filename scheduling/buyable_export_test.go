package scheduling

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
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

// CheckChoices compiles a problem, and compiles it again with what was remembered then. It looks
// in what a bound tells cases apart with for something as good as all that is on sale at the same
// price. It returns how many choices there are.
func CheckChoices(p *Problem, s *Solver) (n int, err error) {
	f, err := newFacts(p, s)
	if err != nil {
		return 0, err
	}
	var last []bound.Choice
	for again := range 2 {
		c := f.compile(false)
		placed := make([]int64, len(c.model.Classes))
		for i := range placed {
			placed[i] = c.model.Classes[i].Count
		}
		pr := c.newProver(placed)
		choices := pr.everyChoice()
		if !slices.IsSortedFunc(choices, func(a, b bound.Choice) int { return cmp.Compare(a.Price, b.Price) }) {
			return 0, errors.New("the cheapest do not come first")
		}
		if again > 0 {
			if (f.memory.assortment == nil) == (c.classes.volumes == nil) || f.memory.assortment != nil && f.memory.assortment.sold == nil {
				return 0, errors.New("nothing is remembered")
			}
			if !reflect.DeepEqual(last, choices) {
				return 0, errors.New("what is remembered differs")
			}
		}
		last = choices
		for list := range pr.sold() {
			for _, o := range list {
				x := &pr.offers.offers[o.offer]
				room, users := pr.space(o.room), pr.admitted(o.column)
				if x.offering.CapacityType == offerings.Reserved || !pr.usable(room, users) {
					continue
				}
				if !slices.ContainsFunc(choices, func(k bound.Choice) bool {
					return k.Price == int64(x.expected) && roomier(k.Cap, room) && k.Users.Contains(users)
				}) {
					return 0, fmt.Errorf("nothing stands in for %+v at %v", o, x.expected)
				}
			}
		}
	}
	return len(last), nil
}
