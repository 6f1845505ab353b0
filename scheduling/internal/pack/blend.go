package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// blendRows is how many rows a blend may have, blendRounds how often machines are
	// added to it, blendMore how many at once, blendPivots bounds each solution.
	blendRows, blendRounds, blendMore, blendPivots = 96, 40, 24, 400
	// fromNowhere is how many times its cheapest price a resource costs that no machine of
	// the blend has.
	fromNowhere = 1000
	// roomyTimes is how often pods should fit on a machine for it to count, roomyShare for
	// how many of the classes that should be so.
	roomyTimes, roomyShare = 2, 0.7
	// blendGain is the share of its cost that a machine must gain to be added.
	blendGain = 1e-6
)

// blend is what to buy in a market if pods could be had in pieces: the cheapest machines
// that have as much of every resource as the pods of each kind ask for. Kinds are pods
// that may be in the same rows of the market.
type blend struct {
	s       *search
	classes []model.ClassID
	m       *market
	kinds   [][]int32 // rows of each
	kindOf  []int32   // by group; −1 for none
	asked   []float64 // kinds × dims
	rows    []int32   // kinds × dims: the row of the program, −1 where nothing is asked
	lp      *linear.Cover
	places  []int     // by column of the program
	quotas  []float64 // by place in the market: machines
	worths  []float64 // kinds × dims, of one unit
	chosen  []int     // by resource: the one of asked that a machine has it for
}

// newBlend returns nil where the market has too many kinds of pods or cannot hold some.
func (s *search) newBlend(m *market, classes []model.ClassID, remaining []int64) *blend {
	dims := s.p.Dims
	x := &blend{s: s, m: m, classes: classes, kindOf: make([]int32, s.p.Groups), quotas: make([]float64, len(m.options))}
	known := map[string]int32{}
	for g := range x.kindOf {
		x.kindOf[g] = -2
	}
	for _, c := range classes {
		class := &s.p.Classes[c]
		k := x.kindOf[class.Group]
		if k == -2 {
			var key []byte
			var rows []int32
			for r, row := range m.rows {
				if row.Has(int(class.Group)) {
					rows = append(rows, int32(r))
					key = append(key, byte(r), byte(r>>8))
				}
			}
			var ok bool
			if k, ok = known[string(key)]; !ok {
				k = int32(len(x.kinds))
				known[string(key)] = k
				x.kinds = append(x.kinds, rows)
				x.asked = append(x.asked, make([]float64, dims)...)
			}
			x.kindOf[class.Group] = k
		}
		for d, q := range class.Request {
			x.asked[int(k)*dims+d] += float64(q) * float64(remaining[c])
		}
	}
	var wanted, standIn []float64
	for i, n := range x.asked {
		x.rows = append(x.rows, -1)
		if n == 0 {
			continue
		}
		rate := 0.0
		for _, r := range x.kinds[i/dims] {
			if v := m.rate[r][i%dims]; v > 0 && (rate == 0 || v < rate) {
				rate = v
			}
		}
		if rate == 0 || len(wanted) == blendRows {
			return nil
		}
		x.rows[i] = int32(len(wanted))
		wanted, standIn = append(wanted, 1), append(standIn, fromNowhere*rate*n)
	}
	x.lp = linear.NewCover(wanted, standIn)
	x.worths = make([]float64, len(x.asked))
	return x
}

// solve works out quotas and worths, where options cost so many times what they do. It
// reports false where something cannot be had.
func (x *blend) solve(dearer []float64) bool {
	byRow := make([][]int32, len(x.m.rows))
	for k, rows := range x.kinds {
		for _, r := range rows {
			byRow[r] = append(byRow[r], int32(k))
		}
	}
	type found struct {
		column linear.Column
		at     int
		gain   float64
	}
	roomy := make([]bool, len(x.m.options))
	for at, o := range x.m.options {
		roomy[at] = len(byRow[x.m.row[at]]) > 0 && x.roomy(o)
	}
	for range blendRounds {
		x.lp.Solve(blendPivots)
		x.price()
		var more []found
		for at, o := range x.m.options {
			kinds := byRow[x.m.row[at]]
			if !roomy[at] || x.s.p.Options[o].Supply != model.NoSupply {
				continue
			}
			if c, gain, ok := x.best(o, kinds, dearer[at]); ok {
				more = append(more, found{c, at, gain / c.Cost})
			}
		}
		x.s.fill.work += int64(len(x.m.options))
		if len(more) == 0 {
			break
		}
		slices.SortStableFunc(more, func(a, b found) int { return cmp.Compare(b.gain, a.gain) })
		for _, f := range more[:min(len(more), blendMore)] {
			x.lp.Add(f.column)
			x.places = append(x.places, f.at)
		}
	}
	x.s.fill.work += x.lp.Work() / 4
	for j, at := range x.places {
		x.quotas[at] += x.lp.Amount(j)
	}
	for i := range x.rows {
		if r := x.rows[i]; r >= 0 && x.lp.Missing(int(r)) > covered {
			return false
		}
	}
	return true
}

// roomy reports whether most of the classes fit on an option, and more than once.
func (x *blend) roomy(o model.OptionID) bool {
	room, fit := x.s.p.Options[o].Room, 0
	for _, c := range x.classes {
		if fitsTimes(room, x.s.p.Classes[c].Request, roomyTimes) {
			fit++
		}
	}
	return float64(fit) >= roomyShare*float64(len(x.classes))
}

// fitsTimes reports whether so many times a request is within some room.
func fitsTimes(room, request []int64, times int64) bool {
	for d, q := range request {
		if q*times > room[d] {
			return false
		}
	}
	return true
}

func (x *blend) price() {
	worths := x.lp.Worths()
	for i, r := range x.rows {
		if r >= 0 {
			x.worths[i] = max(0, worths[r]) / x.asked[i]
		}
	}
}

// best is the machine of an option, at so many times its cost, that holds the most worth
// if each resource goes to the kind where it is worth most. ok says that this is more
// than it costs.
func (x *blend) best(o model.OptionID, kinds []int32, dearer float64) (c linear.Column, gain float64, ok bool) {
	option := &x.s.p.Options[o]
	c.Cost = float64(max(option.Cost, 1)) * max(1, dearer)
	gain = -c.Cost
	x.chosen = x.chosen[:0]
	for d, room := range option.Room {
		best, most := -1, 0.0
		for _, k := range kinds {
			i := int(k)*len(option.Room) + d
			if x.rows[i] >= 0 && x.worths[i] > most {
				best, most = i, x.worths[i]
			}
		}
		if best < 0 || room <= 0 {
			best = -1
		} else {
			gain += min(x.asked[best], float64(room)) * most
		}
		x.chosen = append(x.chosen, best)
	}
	if gain <= blendGain*c.Cost {
		return c, gain, false
	}
	c.Rows, c.Amounts = make([]int32, 0, len(x.chosen)), make([]float64, 0, len(x.chosen))
	for d, i := range x.chosen {
		if i >= 0 {
			c.Rows = append(c.Rows, x.rows[i])
			c.Amounts = append(c.Amounts, min(1, float64(option.Room[d])/x.asked[i]))
		}
	}
	return c, gain, true
}

// values are what a pod of each class is worth, at least a small part of what it was.
func (x *blend) values(classes []model.ClassID, before []float64) []float64 {
	out := make([]float64, len(before))
	dims := x.s.p.Dims
	for _, c := range classes {
		class := &x.s.p.Classes[c]
		k := x.kindOf[class.Group]
		v := before[c] * 0.01
		for d, q := range class.Request {
			v += x.worths[int(k)*dims+d] * float64(q)
		}
		out[c] = v
	}
	return out
}
