package compile

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

func newSupplies(c *Compiler) *offers.Supplies {
	s := &offers.Supplies{Index: map[string]int32{}}
	for _, i := range c.Offers.Reserved {
		o := c.Offers.Offers[i].Offering
		count := int64(o.ReservationCount)
		if n, ok := s.Index[o.ReservationID]; ok {
			s.Counts[n] = min(s.Counts[n], count)
			continue
		}
		s.Index[o.ReservationID] = int32(len(s.Counts))
		s.Counts = append(s.Counts, count)
	}
	return s
}

// Number returns the number of the room that daemons leave on a machine of a
// shape, or -1 where they do not even fit themselves.
func Number(t *offers.RoomTable, c *Compiler, shape int, daemons []model.Bits, offer int) int {
	if t.Index == nil {
		t.Index = map[string]int{}
	}
	b := binary.AppendVarint(t.Buffer[:0], int64(shape))
	for i, row := range daemons {
		if row != nil && row.Has(offer) {
			b = binary.AppendVarint(b, int64(i))
		}
	}
	t.Buffer = b
	if n, ok := t.Index[string(b)]; ok {
		return n
	}
	room := slices.Clone(c.Offers.Shapes[shape].Allocatable)
	n := len(t.Rooms)
	for i, row := range daemons {
		if row == nil || !row.Has(offer) {
			continue
		}
		for d, q := range c.Daemons[i].Requests {
			if room[d] -= q; room[d] < 0 {
				n = -1
			}
		}
	}
	if n >= 0 {
		t.Rooms = append(t.Rooms, room)
	}
	t.Index = offers.ToGrow(t.Index, &t.Shared)
	t.Index[string(b)] = n
	return n
}
