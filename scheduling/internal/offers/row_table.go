package offers

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// RoomTable numbers distinct rooms, vectors of resources that a node leaves to pods.
type RoomTable struct {
	Rooms  [][]int64
	Index  map[string]int
	Shared bool // with another table; Index must then be copied before it is written
	Buffer []byte
}

// Fork returns a table that can grow without changing t. Both share the index until one of them grows.
func (t *RoomTable) Fork() *RoomTable {
	lend(&t.Shared)
	return &RoomTable{Rooms: slices.Clip(t.Rooms), Index: t.Index, Shared: true}
}

// RowTable numbers distinct sets of groups (columns of offers). Scratch is space for the caller to build a set in.
type RowTable struct {
	Rows    []model.Bits
	Index   map[string]int
	Shared  bool // as in [RoomTable]
	Scratch model.Bits
	buffer  []byte
}

// NewRowTable is an empty table of sets of groups, numbered from 0.
func NewRowTable(groups int) *RowTable {
	return &RowTable{Index: map[string]int{}, Scratch: model.NewBits(groups)}
}

// Number is the number of a set. A new set is copied and added.
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

// Fork returns a table that can grow without changing t. Both share the index until one of them grows.
func (t *RowTable) Fork() *RowTable {
	lend(&t.Shared)
	return &RowTable{Rows: slices.Clip(t.Rows), Index: t.Index, Shared: true, Scratch: slices.Clone(t.Scratch)}
}

// lend marks an index as shared. A mark that is set is not written again, because several goroutines may fork the same
// table.
func lend(shared *bool) {
	if !*shared {
		*shared = true
	}
}

// ToGrow is the index to write to: a copy if it is shared, and then no longer marked as shared.
func ToGrow(index map[string]int, shared *bool) map[string]int {
	if *shared {
		index, *shared = maps.Clone(index), false
	}
	return index
}
