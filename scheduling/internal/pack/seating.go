package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// loosely begins once more, with bins that are filled class by class, where filling them one
// by one left pods out or machines had to be bought. It returns the better of both, and
// attempts that follow fill bins as it does.
func (s *search) loosely(best *attempt, values []float64) *attempt {
	if !s.snug || best.cost == 0 && !model.AnyLeft(best.unplaced) {
		return best
	}
	s.snug = false
	if a := s.try(values, false); a.better(best) {
		return a
	}
	s.snug = true
	return best
}

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
func (s *search) seatAll(b *greedy.Bins, remaining []int64, values []float64) {
	known := &s.seatings[0]
	if s.snug {
		known = &s.seatings[1]
	}
	empty := !slices.ContainsFunc(b.Items, func(items []model.Item) bool { return len(items) > 0 })
	if *known != nil && empty && slices.Equal((*known).before, remaining) && slices.Equal((*known).values, values) {
		(*known).seat(b, remaining)
		s.fill.Work += (*known).work
		return
	}
	work, before := s.fill.Work, slices.Clone(remaining)
	if s.snug {
		s.fill.FillBins(b, remaining, values)
	}
	s.fill.PlaceOn(b, s.every, s.inOrder(), remaining, nil)
	if *known == nil && empty {
		x := &seating{
			values: slices.Clone(values), before: before, after: slices.Clone(remaining), work: s.fill.Work - work,
			room: make([][]int64, len(b.Room)), items: make([][]model.Item, len(b.Items)),
		}
		for i, items := range b.Items {
			if len(items) > 0 {
				x.room[i], x.items[i] = slices.Clone(b.Room[i]), slices.Clone(items)
			}
		}
		*known = x
	}
}

// seat puts the pods onto empty bins.
func (x *seating) seat(b *greedy.Bins, remaining []int64) {
	copy(remaining, x.after)
	for i, items := range x.items {
		if len(items) > 0 {
			copy(b.Room[i], x.room[i])
			b.Items[i] = slices.Clone(items)
		}
	}
}
