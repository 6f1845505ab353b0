package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// market is what may be bought in one pass: its options and, since many admit the
// same groups, the rows of groups that occur among them.
type market struct {
	options []model.OptionID
	row     []int32      // by place in options
	rowOf   []int32      // by option; -1 where it is not in the market
	rows    []model.Bits // the groups that may be there at the rank of the pass
	all     []int        // places in options, as they stand
	byCost  []int        // and cheapest first
	dearest []float64    // by row, what the dearest option costs
	room    [][]int64    // by row, the most that any option has of each resource
	kinds   [][]int32    // rows of the groups of each kind, the fewest first
	kindsIn [][]int32    // by row, the kinds that it admits
	kindOf  []int32      // by group; -1 where no row admits it
	rate    [][]float64  // by row, the least that a unit of each resource costs; 0 where none is for sale without limit
}

// newMarket collects the options of a pass.
func newMarket(p *model.Problem, pass model.Pass) *market {
	return marketFor(p, pass.Weight, func(option *model.Option, groups model.Bits) {
		if pass.Soft {
			groups.And(option.Soft)
		} else {
			groups.AndNot(option.Soft)
		}
	})
}

// marketFor collects the options of a weight for the groups that are left of those that
// they admit.
func marketFor(p *model.Problem, weight int32, narrow func(option *model.Option, groups model.Bits)) *market {
	m := &market{rowOf: make([]int32, len(p.Options))}
	for o := range m.rowOf {
		m.rowOf[o] = -1
	}
	known := map[string]int32{}
	groups := model.NewBits(p.Groups)
	var key []byte
	for o := range p.Options {
		option := &p.Options[o]
		if option.Weight != weight {
			continue
		}
		copy(groups, option.Admits)
		if narrow(option, groups); !groups.Any() {
			continue
		}
		key = groups.Append(key[:0])
		row, ok := known[string(key)]
		if !ok {
			row = int32(len(m.rows))
			known[string(key)] = row
			m.rows = append(m.rows, groups.Clone())
			m.dearest = append(m.dearest, 0)
			m.room = append(m.room, make([]int64, p.Dims))
			m.rate = append(m.rate, make([]float64, p.Dims))
		}
		m.options = append(m.options, model.OptionID(o))
		m.row = append(m.row, row)
		m.rowOf[o] = row
		m.dearest[row] = max(m.dearest[row], float64(option.Cost))
		for d, n := range option.Room {
			m.room[row][d] = max(m.room[row][d], n)
			if n > 0 && option.Supply == model.NoSupply {
				rate := float64(max(option.Cost, 1)) / float64(n)
				if m.rate[row][d] == 0 || rate < m.rate[row][d] {
					m.rate[row][d] = rate
				}
			}
		}
	}
	for i := range m.options {
		m.all = append(m.all, i)
	}
	m.byCost = slices.Clone(m.all)
	slices.SortStableFunc(m.byCost, func(a, b int) int {
		return cmp.Compare(p.Options[m.options[a]].Cost, p.Options[m.options[b]].Cost)
	})
	m.sortKinds(p.Groups)
	return m
}

// sortKinds finds the kinds of groups: those that the same rows admit.
func (m *market) sortKinds(groups int) {
	rowsOf := make([][]int32, groups)
	m.kindOf = slices.Repeat([]int32{-1}, groups)
	for g := range rowsOf {
		for r, row := range m.rows {
			if row.Has(g) {
				rowsOf[g] = append(rowsOf[g], int32(r))
			}
		}
		if rowsOf[g] != nil {
			m.kinds = append(m.kinds, rowsOf[g])
		}
	}
	order := func(a, b []int32) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) }
	slices.SortFunc(m.kinds, order)
	m.kinds = slices.CompactFunc(m.kinds, slices.Equal)
	m.kindsIn = make([][]int32, len(m.rows))
	for k, rows := range m.kinds {
		for _, r := range rows {
			m.kindsIn[r] = append(m.kindsIn[r], int32(k))
		}
	}
	for g, rows := range rowsOf {
		if k, found := slices.BinarySearchFunc(m.kinds, rows, order); found {
			m.kindOf[g] = int32(k)
		}
	}
}

// upTo lists the places of the options that cost at most so much.
func (m *market) upTo(p *model.Problem, cost int64) []int {
	n, _ := slices.BinarySearchFunc(m.byCost, cost, func(at int, cost int64) int {
		if p.Options[m.options[at]].Cost <= cost {
			return -1
		}
		return 1
	})
	return m.byCost[:n]
}

// shelf is the classes of one size, the most worth first.
type shelf struct {
	size    int32
	classes []model.ClassID
}

// stage is a market made ready for some classes: by row of the market, the shelves of
// those that may be there. Constructing empties the shelves as pods run out.
type stage struct {
	*market
	places  []int // of the options to look at
	shelves [][]shelf
	tight   [][]shelf       // by row, the classes that cannot share machines as they like
	all     []model.ClassID // what the shelves are slices of
	wanted  []bool          // by row, whether some option to look at is in it
}

// indexWork is how many classes are put on shelves with the work of weighing one.
const indexWork = 4

// indexClasses puts the classes, which stand as arranged, on the shelves of a market.
func (f *filler) indexClasses(s *stage, m *market, places []int, classes []model.ClassID) {
	s.market, s.places = m, places
	rows := len(m.rows)
	s.shelves = slices.Grow(s.shelves[:0], rows)[:rows]
	s.tight = slices.Grow(s.tight[:0], rows)[:rows]
	s.wanted = slices.Grow(s.wanted[:0], rows)[:rows]
	clear(s.wanted)
	for _, at := range places {
		s.wanted[m.row[at]] = true
	}
	for _, c := range classes {
		f.rowsOf[c] = 0
	}
	s.all = s.all[:0]
	for r := range m.rows {
		s.shelves[r], s.tight[r] = s.shelves[r][:0], s.tight[r][:0]
		if s.wanted[r] {
			f.work += int64(len(classes)) / indexWork
			s.shelves[r] = f.sort(s, r, s.shelves[r], classes, false)
			if !f.pace.idle {
				s.tight[r] = f.sort(s, r, s.tight[r], classes, true)
			}
		}
	}
	at := 0
	for r := range m.rows {
		for _, shelves := range [][]shelf{s.shelves[r], s.tight[r]} {
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
func (f *filler) sort(s *stage, row int, shelves []shelf, classes []model.ClassID, tight bool) []shelf {
	last, fits := int32(-1), false
	for _, c := range classes {
		if tight && !f.tight(c) || !s.rows[row].Has(int(f.p.Classes[c].Group)) {
			continue
		}
		size := f.sizeOf[c]
		if size != last {
			last, fits = size, model.Fits(s.room[row], f.requests[size])
		}
		if !fits {
			continue
		}
		if len(shelves) == 0 || shelves[len(shelves)-1].size != size {
			shelves = append(shelves, shelf{size: size})
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
func (f *filler) arrange(classes []model.ClassID, values []float64) {
	slices.SortFunc(classes, func(a, b model.ClassID) int {
		return cmp.Or(
			cmp.Compare(f.sizeOf[a], f.sizeOf[b]),
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

func tidied(shelves []shelf, remaining []int64) []shelf {
	kept := shelves[:0]
	for _, x := range shelves {
		x.classes = slices.DeleteFunc(x.classes, func(c model.ClassID) bool { return remaining[c] == 0 })
		if len(x.classes) > 0 {
			kept = append(kept, x)
		}
	}
	return kept
}
