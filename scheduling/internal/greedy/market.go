package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Market is the options of one pass. Many options admit the same groups: the distinct sets of admitted groups
// are its rows. A place is an index in Options.
type Market struct {
	Options []model.OptionID
	Row     []int32      // by place
	RowOf   []int32      // by option; −1 where it is not in the market
	Rows    []model.Bits // the groups that a row admits in this pass
	All     []int        // all places, ascending
	ByCost  []int        // all places, cheapest first
	dearest []float64    // by row: cost of the dearest option
	room    [][]int64    // by row: largest room of an option, by resource
	Kinds   [][]int32    // by kind, that is, groups with the same rows: these rows. The kind with the fewest rows is first
	KindsIn [][]int32    // by row: kinds that it admits
	KindOf  []int32      // by group; −1 where no row admits it
	rate    [][]float64  // by row: least cost of a unit of each resource; 0 where no option of unlimited supply has it
}

// NewMarket collects the options of a pass.
func NewMarket(p *model.Problem, pass model.Pass) *Market {
	return MarketFor(p, pass.Weight, func(option *model.Option, groups model.Bits) {
		if pass.Soft {
			groups.And(option.Soft)
		} else {
			groups.AndNot(option.Soft)
		}
	})
}

// MarketFor collects the options of a weight. narrow removes groups from those that an option admits.
func MarketFor(p *model.Problem, weight int32, narrow func(option *model.Option, groups model.Bits)) *Market {
	m := &Market{RowOf: make([]int32, len(p.Options))}
	for o := range m.RowOf {
		m.RowOf[o] = -1
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
			row = int32(len(m.Rows))
			known[string(key)] = row
			m.Rows = append(m.Rows, groups.Clone())
			m.dearest = append(m.dearest, 0)
			m.room = append(m.room, make([]int64, p.Dims))
			m.rate = append(m.rate, make([]float64, p.Dims))
		}
		m.Options = append(m.Options, model.OptionID(o))
		m.Row = append(m.Row, row)
		m.RowOf[o] = row
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
	m.All = model.Every[int](len(m.Options))
	m.ByCost = slices.Clone(m.All)
	slices.SortStableFunc(m.ByCost, func(a, b int) int {
		return cmp.Compare(p.Options[m.Options[a]].Cost, p.Options[m.Options[b]].Cost)
	})
	m.sortKinds(p.Groups)
	return m
}

// sortKinds finds the kinds: groups that the same rows admit.
func (m *Market) sortKinds(groups int) {
	rowsOf := make([][]int32, groups)
	m.KindOf = slices.Repeat([]int32{-1}, groups)
	for g := range rowsOf {
		for r, row := range m.Rows {
			if row.Has(g) {
				rowsOf[g] = append(rowsOf[g], int32(r))
			}
		}
		if rowsOf[g] != nil {
			m.Kinds = append(m.Kinds, rowsOf[g])
		}
	}
	order := func(a, b []int32) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) }
	slices.SortFunc(m.Kinds, order)
	m.Kinds = slices.CompactFunc(m.Kinds, slices.Equal)
	m.KindsIn = make([][]int32, len(m.Rows))
	for k, rows := range m.Kinds {
		for _, r := range rows {
			m.KindsIn[r] = append(m.KindsIn[r], int32(k))
		}
	}
	for g, rows := range rowsOf {
		if k, found := slices.BinarySearchFunc(m.Kinds, rows, order); found {
			m.KindOf[g] = int32(k)
		}
	}
}

// UpTo lists the places of options that cost at most cost, cheapest first.
func (m *Market) UpTo(p *model.Problem, cost int64) []int {
	n, _ := slices.BinarySearchFunc(m.ByCost, cost, func(at int, cost int64) int {
		if p.Options[m.Options[at]].Cost <= cost {
			return -1
		}
		return 1
	})
	return m.ByCost[:n]
}
