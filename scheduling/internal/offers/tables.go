package offers

import (
	"maps"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Supplies numbers the reservations. One that several offers share has the
// smallest count that any of them states.
type Supplies struct {
	Index  map[string]int32
	Counts []int64
}

// Number is the number of the reservation of an offering, model.NoSupply where it is none.
func (s *Supplies) Number(o *offerings.Offering) int32 {
	if o.CapacityType != offerings.Reserved {
		return model.NoSupply
	}
	return s.Index[o.ReservationID]
}

// RoomTable numbers the distinct vectors of what machines offer to pods.
type RoomTable struct {
	Rooms  [][]int64
	Index  map[string]int
	Shared bool // with another table: the index has to be copied before it grows
	Buffer []byte
}

// RowTable numbers distinct bit rows over groups.
type RowTable struct {
	Rows    []model.Bits
	Index   map[string]int
	Shared  bool // as in roomTable
	Scratch model.Bits
	buffer  []byte
}

// NewRowTable returns an empty table of rows of so many groups.
func NewRowTable(groups int) *RowTable {
	return &RowTable{Index: map[string]int{}, Scratch: model.NewBits(groups)}
}

// Number is the number of a row, which is added if it is new.
func (t *RowTable) Number(row model.Bits) int {
	b := row.Append(t.buffer[:0])
	t.buffer = b
	if n, ok := t.Index[string(b)]; ok {
		return n
	}
	n := len(t.Rows)
	t.Rows = append(t.Rows, row.Clone())
	t.Index = ToGrow(t.Index, &t.Shared)
	t.Index[string(b)] = n
	return n
}

// ToGrow is an index that may grow.
func ToGrow(index map[string]int, shared *bool) map[string]int {
	if *shared {
		index, *shared = maps.Clone(index), false
	}
	return index
}
