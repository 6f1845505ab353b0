package greedy

import (
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
	rowsOf      []int32         // by indexed class: number of its rows
}

// indexWork is the number of classes that are indexed with the work of looking at one.
const indexWork = 4

// fill indexes classes, arranged by size, for some places of a market, and returns the work of it.
func (s *classIndex) fill(m *Market, places []int, sizes *classSizes, pace *limitPacing, classes []model.ClassID) (work int64) {
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
		s.rowsOf[c] = 0
	}
	s.all = s.all[:0]
	for r := range m.Rows {
		s.lists[r], s.nodeLimited[r] = s.lists[r][:0], s.nodeLimited[r][:0]
		if s.wanted[r] {
			work += int64(len(classes)) / indexWork
			s.lists[r] = s.sort(r, s.lists[r], sizes, classes, nil)
			if pace.limits {
				s.nodeLimited[r] = s.sort(r, s.nodeLimited[r], sizes, classes, pace)
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
	return work
}

// sort appends the classes that a row admits; with limited, only classes with per-node limits. The caller cuts the slices
// again when s.all no longer moves.
func (s *classIndex) sort(row int, lists []SizeList, sizes *classSizes, classes []model.ClassID, limited *limitPacing) []SizeList {
	last, fits := int32(-1), false
	for _, c := range classes {
		if limited != nil && !limited.has(c) || !s.m.Rows[row].Has(int(sizes.p.Classes[c].Group)) {
			continue
		}
		size := sizes.sizeOf[c]
		if size != last {
			last, fits = size, model.Fits(s.m.room[row], sizes.requests[size])
		}
		if !fits {
			continue
		}
		if len(lists) == 0 || lists[len(lists)-1].size != size {
			lists = append(lists, SizeList{size: size})
		}
		if limited == nil {
			s.rowsOf[c]++
		}
		s.all = append(s.all, c)
		x := &lists[len(lists)-1]
		x.classes = s.all[len(s.all)-len(x.classes)-1:]
	}
	return lists
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
