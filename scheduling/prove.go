package scheduling

import (
	"slices"

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
	type reservation struct {
		id    string
		room  int
		price int64
	}
	cheapest := map[machine]int{}
	reserved := map[reservation]bool{}
	for ti := range c.offered {
		daemons := c.certain(ti)
		for _, o := range slices.Concat(c.offered[ti].list, c.offered[ti].crowded) {
			x := &c.offers.offers[o.offer]
			o.room = c.roomFor(x.shape, daemons, o.offer)
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
	for i := range c.nodes {
		shared := c.nodes[i].suits.Clone()
		shared.And(groups)
		if shared.Any() {
			in.Free = append(in.Free, bound.Bin{Cap: c.nodes[i].room, Count: 1})
		}
	}
	return in
}

// certain are the rows of the daemons of a template that run whatever value is
// chosen for the labels that its pool leaves open; the others are nil. Counting
// fewer daemons keeps the bound valid.
func (c *compiler) certain(ti int) []model.Bits {
	rows := make([]model.Bits, len(c.daemons))
	open := c.templates[ti].open
	for i, d := range c.daemons {
		sure := true
		d.constraint.expressions(func(e *expression) { sure = sure && !open[e.Key()] })
		if sure {
			rows[i] = c.offered[ti].daemons[i]
		}
	}
	return rows
}

// roomFor is the number of the room that daemons leave on a shape, or that of the
// bare shape where they do not fit: a bound may not rest on their keeping pods away.
func (c *compiler) roomFor(shape int, daemons []model.Bits, offer int) int {
	if n := c.rooms.number(c, shape, daemons, offer); n >= 0 {
		return n
	}
	return c.rooms.number(c, shape, nil, offer)
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
