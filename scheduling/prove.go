package scheduling

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// prove computes the lower bound on every plan that places at least the placed
// pods, and what proves it.
func (c *compiler) prove(placed []int64) (offerings.Price, *Certificate) {
	in := c.boundInput(placed)
	if len(in.Items) == 0 {
		return 0, nil
	}
	result := bound.Resource(in.Tighten())
	if result.Bound <= 0 {
		return 0, nil
	}
	certificate := &Certificate{Kind: "resource", Values: map[string]string{}, Scale: bound.Scale}
	for d, v := range result.Values {
		if v.Sign() > 0 {
			certificate.Values[string(c.table.names[d])] = v.String()
		}
	}
	return offerings.Price(result.Bound), certificate
}

// boundInput collects what the placed pods need and what could hold any of them.
// Limits, weights and minValues are left out: a plan that ignores them is never dearer.
func (c *compiler) boundInput(placed []int64) bound.Input {
	in := bound.Input{Dims: c.model.Dims}
	groups := model.NewBits(c.model.Groups)
	for i, n := range placed {
		if n > 0 {
			in.Items = append(in.Items, bound.Item{Size: c.model.Classes[i].Request, Count: n})
			groups.Set(int(c.model.Classes[i].Group))
		}
	}
	if len(in.Items) == 0 {
		return in
	}
	type machine struct{ room, column int }
	cheapest := map[machine]int{}
	type reservation struct {
		id    string
		room  int
		price int64
	}
	reserved := map[reservation]bool{}
	for ti := range c.offered {
		for _, o := range c.offered[ti].list {
			x := &c.offers.offers[o.offer]
			price := int64(x.offering.Price)
			if x.offering.CapacityType == offerings.Reserved {
				r := reservation{x.offering.ReservationID, o.room, price}
				if !reserved[r] && c.usable(o, placed) {
					reserved[r] = true
					in.Free = append(in.Free, bound.Bin{Cap: c.rooms.rooms[o.room], Price: price, Count: int64(x.offering.ReservationCount)})
				}
				continue
			}
			k := machine{o.room, o.column}
			if at, ok := cheapest[k]; ok {
				if at >= 0 {
					in.Options[at].Price = min(in.Options[at].Price, price)
				}
				continue
			}
			if !c.usable(o, placed) {
				cheapest[k] = -1
				continue
			}
			cheapest[k] = len(in.Options)
			in.Options = append(in.Options, bound.Option{Cap: c.rooms.rooms[o.room], Price: price})
		}
	}
	for i := range c.model.Bins {
		b := &c.model.Bins[i]
		shared := b.Admits.Clone()
		shared.And(groups)
		if shared.Any() {
			in.Free = append(in.Free, bound.Bin{Cap: b.Room, Count: 1})
		}
	}
	return in
}

// usable reports whether any placed class could sit on the offer's machines alone.
func (c *compiler) usable(o templateOffer, placed []int64) bool {
	admits, room := c.columns.rows[o.column], c.rooms.rooms[o.room]
	for i, n := range placed {
		class := &c.model.Classes[i]
		if n > 0 && admits.Has(int(class.Group)) && model.Fits(room, class.Request) {
			return true
		}
	}
	return false
}
