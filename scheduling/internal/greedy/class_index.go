package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// SizeList is the classes of one size, in descending order of value.
type SizeList struct {
	size    int32
	classes []model.ClassID
}

// classIndex is the classes to place, by row of a market. Construction removes classes when their pods run out.
type classIndex struct {
	m           *Market
	places      []int           // options to consider
	lists       [][]SizeList    // by row
	nodeLimited [][]SizeList    // by row: classes with per-node limits
	all         []model.ClassID // backing array of the lists
	wanted      []bool          // by row: whether it has an option to consider
}

// indexWork is the number of classes that are indexed with the work of looking at one.
const indexWork = 4

// Index indexes the classes for some places of a market. It sorts classes.
func (f *Filler) Index(m *Market, places []int, classes []model.ClassID, values []float64) {
	f.arrange(classes, values)
	s := &f.index
	s.m, s.places = m, places
	rows := len(m.Rows)
	s.lists = slices.Grow(s.lists[:0], rows)[:rows]
	s.nodeLimited = slices.Grow(s.nodeLimited[:0], rows)[:rows]
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
		s.lists[r], s.nodeLimited[r] = s.lists[r][:0], s.nodeLimited[r][:0]
		if s.wanted[r] {
			f.Work += int64(len(classes)) / indexWork
			s.lists[r] = f.sort(r, s.lists[r], classes, false)
			if f.NodeLimits {
				s.nodeLimited[r] = f.sort(r, s.nodeLimited[r], classes, true)
			}
		}
	}
	at := 0
	for r := range m.Rows {
		for _, lists := range [][]SizeList{s.lists[r], s.nodeLimited[r]} {
			for i := range lists {
				n := len(lists[i].classes)
				lists[i].classes = s.all[at : at+n : at+n]
				at += n
			}
		}
	}
}

// sort appends the classes that a row admits, or only those with per-node limits. The caller cuts the slices
// again when s.all no longer moves.
func (f *Filler) sort(row int, lists []SizeList, classes []model.ClassID, tight bool) []SizeList {
	s := &f.index
	last, fits := int32(-1), false
	for _, c := range classes {
		if tight && !f.hasNodeLimit(c) || !s.m.Rows[row].Has(int(f.on.p.Classes[c].Group)) {
			continue
		}
		size := f.SizeOf[c]
		if size != last {
			last, fits = size, model.Fits(s.m.room[row], f.requests[size])
		}
		if !fits {
			continue
		}
		if len(lists) == 0 || lists[len(lists)-1].size != size {
			lists = append(lists, SizeList{size: size})
		}
		if !tight {
			f.rowsOf[c]++
		}
		s.all = append(s.all, c)
		x := &lists[len(lists)-1]
		x.classes = s.all[len(s.all)-len(x.classes)-1:]
	}
	return lists
}

// arrange sorts classes by size, then in descending order of value.
func (f *Filler) arrange(classes []model.ClassID, values []float64) {
	slices.SortFunc(classes, func(a, b model.ClassID) int {
		return cmp.Or(
			cmp.Compare(f.SizeOf[a], f.SizeOf[b]),
			cmp.Compare(values[b], values[a]),
			cmp.Compare(a, b),
		)
	})
}

// dropEmpty removes classes without remaining pods.
func (s *classIndex) dropEmpty(remaining []int64) {
	for r := range s.lists {
		s.lists[r] = withoutEmpty(s.lists[r], remaining)
		s.nodeLimited[r] = withoutEmpty(s.nodeLimited[r], remaining)
	}
}

func withoutEmpty(lists []SizeList, remaining []int64) []SizeList {
	kept := lists[:0]
	for _, x := range lists {
		x.classes = slices.DeleteFunc(x.classes, func(c model.ClassID) bool { return remaining[c] == 0 })
		if len(x.classes) > 0 {
			kept = append(kept, x)
		}
	}
	return kept
}
