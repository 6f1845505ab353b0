package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// supplies numbers the reservations. One that several offers share has the
// smallest count that any of them states.
type supplies struct {
	index  map[string]int32
	counts []int64
}

func newSupplies(c *compiler) *supplies {
	s := &supplies{index: map[string]int32{}}
	for _, i := range c.offers.reserved {
		o := c.offers.offers[i].offering
		count := int64(o.ReservationCount)
		if n, ok := s.index[o.ReservationID]; ok {
			s.counts[n] = min(s.counts[n], count)
			continue
		}
		s.index[o.ReservationID] = int32(len(s.counts))
		s.counts = append(s.counts, count)
	}
	return s
}

func (s *supplies) number(o *offerings.Offering) int32 {
	if o.CapacityType != offerings.Reserved {
		return model.NoSupply
	}
	return s.index[o.ReservationID]
}

// roomTable numbers the distinct vectors of what machines offer to pods.
type roomTable struct {
	rooms  [][]int64
	index  map[string]int
	shared bool // with another table: the index has to be copied before it grows
	buffer []byte
}

// number returns the number of the room that daemons leave on a machine of a
// shape, or -1 where they do not even fit themselves.
func (t *roomTable) number(c *compiler, shape int, daemons []model.Bits, offer int) int {
	if t.index == nil {
		t.index = map[string]int{}
	}
	b := binary.AppendVarint(t.buffer[:0], int64(shape))
	for i, row := range daemons {
		if row != nil && row.Has(offer) {
			b = binary.AppendVarint(b, int64(i))
		}
	}
	t.buffer = b
	if n, ok := t.index[string(b)]; ok {
		return n
	}
	room := slices.Clone(c.offers.shapes[shape].allocatable)
	n := len(t.rooms)
	for i, row := range daemons {
		if row == nil || !row.Has(offer) {
			continue
		}
		for d, q := range c.daemons[i].requests {
			if room[d] -= q; room[d] < 0 {
				n = -1
			}
		}
	}
	if n >= 0 {
		t.rooms = append(t.rooms, room)
	}
	t.index = toGrow(t.index, &t.shared)
	t.index[string(b)] = n
	return n
}

// rowTable numbers distinct bit rows over groups.
type rowTable struct {
	rows    []model.Bits
	index   map[string]int
	shared  bool // as in roomTable
	scratch model.Bits
	buffer  []byte
}

func newRowTable(groups int) *rowTable {
	return &rowTable{index: map[string]int{}, scratch: model.NewBits(groups)}
}

func (t *rowTable) number(row model.Bits) int {
	b := row.Append(t.buffer[:0])
	t.buffer = b
	if n, ok := t.index[string(b)]; ok {
		return n
	}
	n := len(t.rows)
	t.rows = append(t.rows, row.Clone())
	t.index = toGrow(t.index, &t.shared)
	t.index[string(b)] = n
	return n
}
