package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// seating is how pods were put onto empty bins, for attempts that begin in the same way. It
// is not changed any more.
type seating struct {
	values        []float64
	before, after []int64 // pods to be placed, and those left
	room          [][]int64
	items         [][]model.Item
	work          int64 // that it took
}

// seatAll puts remaining pods onto the bins. What was worked out before is not worked out
// again, but counts as work.
func (s *search) seatAll(b *bins, remaining []int64, values []float64) {
	known := &s.seatings[0]
	if s.snug {
		known = &s.seatings[1]
	}
	empty := !slices.ContainsFunc(b.items, func(items []model.Item) bool { return len(items) > 0 })
	if *known != nil && empty && slices.Equal((*known).before, remaining) && slices.Equal((*known).values, values) {
		(*known).seat(b, remaining)
		s.fill.work += (*known).work
		return
	}
	work, before := s.fill.work, slices.Clone(remaining)
	if s.snug {
		s.fillBins(b, remaining, values)
	}
	s.fill.placeOn(b, s.every, s.inOrder(), remaining)
	if *known == nil && empty {
		x := &seating{
			values: slices.Clone(values), before: before, after: slices.Clone(remaining), work: s.fill.work - work,
			room: make([][]int64, len(b.room)), items: make([][]model.Item, len(b.items)),
		}
		for i, items := range b.items {
			if len(items) > 0 {
				x.room[i], x.items[i] = slices.Clone(b.room[i]), slices.Clone(items)
			}
		}
		*known = x
	}
}

// seat puts the pods onto empty bins.
func (x *seating) seat(b *bins, remaining []int64) {
	copy(remaining, x.after)
	for i, items := range x.items {
		if len(items) > 0 {
			copy(b.room[i], x.room[i])
			b.items[i] = slices.Clone(items)
		}
	}
}
