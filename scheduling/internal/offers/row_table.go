package offers

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// RoomTable numbers the distinct vectors of what machines offer to pods.
type RoomTable struct {
	Rooms  [][]int64
	Index  map[string]int
	Shared bool // with another table: the index has to be copied before it grows
	Buffer []byte
}

// Fork returns a table that can grow without changing t.
func (t *RoomTable) Fork() *RoomTable {
	lend(&t.Shared)
	return &RoomTable{Rooms: slices.Clip(t.Rooms), Index: t.Index, Shared: true}
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

// Fork returns a table that can grow without changing t.
func (t *RowTable) Fork() *RowTable {
	lend(&t.Shared)
	return &RowTable{Rows: slices.Clip(t.Rows), Index: t.Index, Shared: true, Scratch: slices.Clone(t.Scratch)}
}

// lend notes that an index has to be copied before it grows. One that is shared already, perhaps by
// several at the same time, is not written.
func lend(shared *bool) {
	if !*shared {
		*shared = true
	}
}

// ToGrow is an index that may grow.
func ToGrow(index map[string]int, shared *bool) map[string]int {
	if *shared {
		index, *shared = maps.Clone(index), false
	}
	return index
}
