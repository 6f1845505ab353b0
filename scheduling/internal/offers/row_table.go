package offers

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// RoomTable numbers distinct rooms, vectors of resources that a node leaves to pods.
type RoomTable struct {
	Rooms  [][]int64
	index  map[string]int
	shared bool // with another table; index must then be copied before it is written
	buffer []byte
}

// Fork returns a table that can grow without changing t. Both share the index until one of them grows.
func (t *RoomTable) Fork() *RoomTable {
	lend(&t.shared)
	return &RoomTable{Rooms: slices.Clip(t.Rooms), index: t.index, shared: true}
}

// Number is the number of the room that daemons leave of the allocatable resources of a shape, or -1 where the daemons
// themselves do not fit. rows are, by daemon, the offers on which it runs, and offer is the one in question; nil rows are
// no daemons. A room that is new is added.
func (t *RoomTable) Number(allocatable []int64, shape int, daemons []*Daemon, rows []model.Bits, offer int) int {
	key := binary.AppendVarint(t.buffer[:0], int64(shape))
	for i, row := range rows {
		if row != nil && row.Has(offer) {
			key = binary.AppendVarint(key, int64(i))
		}
	}
	t.buffer = key
	if n, ok := t.index[string(key)]; ok {
		return n
	}
	room, n := slices.Clone(allocatable), len(t.Rooms)
	for i, row := range rows {
		if row == nil || !row.Has(offer) {
			continue
		}
		for d, q := range daemons[i].Requests {
			if room[d] -= q; room[d] < 0 {
				n = -1
			}
		}
	}
	if n >= 0 {
		t.Rooms = append(t.Rooms, room)
	}
	t.index = toGrow(t.index, &t.shared)
	t.index[string(key)] = n
	return n
}

// RowTable numbers distinct sets of groups (columns of offers). Scratch is space for the caller to build a set in.
type RowTable struct {
	Rows    []model.Bits
	index   map[string]int
	shared  bool // as in [RoomTable]
	Scratch model.Bits
	buffer  []byte
}

// NewRowTable is an empty table of sets of groups, numbered from 0.
func NewRowTable(groups int) *RowTable {
	return &RowTable{index: map[string]int{}, Scratch: model.NewBits(groups)}
}

// Number is the number of a set. A new set is copied and added.
func (t *RowTable) Number(row model.Bits) int {
	b := row.Append(t.buffer[:0])
	t.buffer = b
	if n, ok := t.index[string(b)]; ok {
		return n
	}
	n := len(t.Rows)
	t.Rows = append(t.Rows, row.Clone())
	t.index = toGrow(t.index, &t.shared)
	t.index[string(b)] = n
	return n
}

// Fork returns a table that can grow without changing t. Both share the index until one of them grows.
func (t *RowTable) Fork() *RowTable {
	lend(&t.shared)
	return &RowTable{Rows: slices.Clip(t.Rows), index: t.index, shared: true, Scratch: slices.Clone(t.Scratch)}
}

// lend marks an index as shared. A mark that is set is not written again, because several goroutines may fork the same
// table.
func lend(shared *bool) {
	if !*shared {
		*shared = true
	}
}

// toGrow is the index to write to, which is made at the first call: a copy if it is shared, and then no longer marked as shared.
func toGrow(index map[string]int, shared *bool) map[string]int {
	if index == nil {
		index = map[string]int{}
	}
	if *shared {
		index, *shared = maps.Clone(index), false
	}
	return index
}
