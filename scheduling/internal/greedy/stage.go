package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Shelf is the classes of one size, the most worth first.
type Shelf struct {
	size    int32
	classes []model.ClassID
}

// stage is a market made ready for some classes: by row of the market, the shelves of
// those that may be there. Constructing empties the shelves as pods run out.
type stage struct {
	*Market
	places  []int // of the options to look at
	shelves [][]Shelf
	tight   [][]Shelf       // by row, the classes that cannot share machines as they like
	all     []model.ClassID // what the shelves are slices of
	wanted  []bool          // by row, whether some option to look at is in it
}

// indexWork is how many classes are put on shelves with the work of weighing one.
const indexWork = 4

// Index puts the classes on the shelves of a market, of which some places are looked at, and sorts
// them as they stand there.
func (f *Filler) Index(m *Market, places []int, classes []model.ClassID, values []float64) {
	f.arrange(classes, values)
	s := &f.stage
	s.Market, s.places = m, places
	rows := len(m.Rows)
	s.shelves = slices.Grow(s.shelves[:0], rows)[:rows]
	s.tight = slices.Grow(s.tight[:0], rows)[:rows]
	s.wanted = slices.Grow(s.wanted[:0], rows)[:rows]
	clear(s.wanted)
	for _, at := range places {
		s.wanted[m.Row[at]] = true
	}
	for _, c := range classes {
		f.rowsOf[c] = 0
	}
	s.all = s.all[:0]
	for r := range m.Rows {
		s.shelves[r], s.tight[r] = s.shelves[r][:0], s.tight[r][:0]
		if s.wanted[r] {
			f.Work += int64(len(classes)) / indexWork
			s.shelves[r] = f.sort(r, s.shelves[r], classes, false)
			if f.NodeLimits {
				s.tight[r] = f.sort(r, s.tight[r], classes, true)
			}
		}
	}
	at := 0
	for r := range m.Rows {
		for _, shelves := range [][]Shelf{s.shelves[r], s.tight[r]} {
			for i := range shelves {
				n := len(shelves[i].classes)
				shelves[i].classes = s.all[at : at+n : at+n]
				at += n
			}
		}
	}
}

// sort adds shelves with the classes that may be in a row, or only the tight ones. The
// slices are cut anew once s.all does not move any more.
func (f *Filler) sort(row int, shelves []Shelf, classes []model.ClassID, tight bool) []Shelf {
	s := &f.stage
	last, fits := int32(-1), false
	for _, c := range classes {
		if tight && !f.tight(c) || !s.Rows[row].Has(int(f.p.Classes[c].Group)) {
			continue
		}
		size := f.SizeOf[c]
		if size != last {
			last, fits = size, model.Fits(s.room[row], f.requests[size])
		}
		if !fits {
			continue
		}
		if len(shelves) == 0 || shelves[len(shelves)-1].size != size {
			shelves = append(shelves, Shelf{size: size})
		}
		if !tight {
			f.rowsOf[c]++
		}
		s.all = append(s.all, c)
		x := &shelves[len(shelves)-1]
		x.classes = s.all[len(s.all)-len(x.classes)-1:]
	}
	return shelves
}

// arrange sorts classes as they stand on shelves: by size, then the most worth first.
func (f *Filler) arrange(classes []model.ClassID, values []float64) {
	slices.SortFunc(classes, func(a, b model.ClassID) int {
		return cmp.Or(
			cmp.Compare(f.SizeOf[a], f.SizeOf[b]),
			cmp.Compare(values[b], values[a]),
			cmp.Compare(a, b),
		)
	})
}

// tidy takes the classes without pods off the shelves.
func (s *stage) tidy(remaining []int64) {
	for r := range s.shelves {
		s.shelves[r] = tidied(s.shelves[r], remaining)
		s.tight[r] = tidied(s.tight[r], remaining)
	}
}

func tidied(shelves []Shelf, remaining []int64) []Shelf {
	kept := shelves[:0]
	for _, x := range shelves {
		x.classes = slices.DeleteFunc(x.classes, func(c model.ClassID) bool { return remaining[c] == 0 })
		if len(x.classes) > 0 {
			kept = append(kept, x)
		}
	}
	return kept
}
