package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// bulkRounds is how often quotas are worked out anew for what is left.
	bulkRounds = 20
	// bulkFull is how much of its price a machine must hold by the worths of a blend to
	// be bought by its quota.
	bulkFull = 0.97
	// bulkShare is the part of a quota that is bought of one filling before the next one,
	// so that the pods left stay mixed.
	bulkShare = 8
	// bulkKept is from which quota on one machine less is bought, so that there is some
	// choice for the rest, and bulkFew how many machines are so few that a second attempt
	// does so with every quota.
	bulkKept, bulkFew = 4, 16
	// bargain is how much more worth than it costs a machine must hold to be one.
	bargain = 1.01
)

// bulk buys machines for what remains in a pass, as many of each option as if pods could
// be had in pieces, and then a fleet for the rest. It leaves in remaining what it finds
// no place for.
func (s *search) bulk(pass int, remaining []int64, values []float64, b *budget) []model.Node {
	m := s.markets[pass]
	var out []model.Node
	dearer := make([]float64, len(m.options))
	for i := range bulkRounds {
		classes := slices.DeleteFunc(slices.Clone(s.fill.those(remaining, values)), func(c model.ClassID) bool { return values[c] == 0 })
		if len(classes) == 0 {
			break
		}
		x := s.newBlend(m, classes, remaining)
		if x == nil || !x.solve(dearer) {
			break
		}
		worths := x.values(classes, values)
		if i == 0 {
			s.ideal += x.lp.Cost()
			out = s.bargains(x, classes, remaining, worths, b)
			if len(out) > 0 {
				continue
			}
		}
		bought, poor := s.buyQuotas(x, classes, remaining, worths, b, dearer)
		out = append(out, bought...)
		if len(bought) == 0 && !poor {
			return append(out, s.tail(x, pass, remaining, worths, b)...)
		}
	}
	return out
}

// bargains buys small machines that hold more worth than they cost: a blend does not
// count on them, since most pods do not fit there.
func (s *search) bargains(x *blend, classes []model.ClassID, remaining []int64, values []float64, b *budget) []model.Node {
	var places []int
	for at, o := range x.m.options {
		if !x.roomy(o) {
			places = append(places, at)
		}
	}
	if len(places) == 0 {
		return nil
	}
	s.fill.arrange(classes, values)
	s.fill.stock(&s.stage, x.m, places, classes)
	return s.fill.constructAbove(&s.stage, remaining, values, b, bargain)
}

// quota is how many machines of an option to buy, and how many of them are not bought yet.
type quota struct {
	at      int // place in the market
	n, left int64
}

// wholes are the whole machines of a blend, but for the last ones.
func (x *blend) wholes() []quota {
	var out []quota
	all := 0.0
	for _, q := range x.quotas {
		all += q
	}
	for at, q := range x.quotas {
		n := int64(q + 1e-6)
		if n >= bulkKept || n > 0 && all < bulkFew && x.s.keeping {
			n--
		}
		if n > 0 {
			out = append(out, quota{at, n, n})
		}
	}
	return out
}

// next is the quota of which the largest part is left, nil when there is nothing left.
func next(quotas []quota) *quota {
	var best *quota
	for i := range quotas {
		if y := &quotas[i]; y.left > 0 && (best == nil || y.left*best.n > best.left*y.n) {
			best = y
		}
	}
	return best
}

// buyQuotas buys whole machines of a blend, of all options in turn. Where a machine turns
// out to hold much less than it costs, its option is noted as dearer by as much, and poor
// is true: then the blend was wrong about it.
func (s *search) buyQuotas(x *blend, classes []model.ClassID, remaining []int64, values []float64, b *budget, dearer []float64) (out []model.Node, poor bool) {
	m, f := x.m, s.fill
	quotas := x.wholes()
	var places []int
	all := int64(0)
	for _, y := range quotas {
		places = append(places, y.at)
		all += y.n
	}
	f.arrange(classes, values)
	f.stock(&s.stage, m, places, classes)
	if all >= rackedFrom {
		f.rack(&s.stage, values)
		defer func() { f.racks = nil }()
	}
	for {
		y := next(quotas)
		if y == nil {
			return out, poor
		}
		o := m.options[y.at]
		f.racks = s.stage.racksOf(m.row[y.at])
		items, worth := f.fill(o, nil, s.stage.shelves[m.row[y.at]], remaining, values)
		if full := worth / f.costs[o]; y.left == y.n && full < bulkFull {
			dearer[y.at] = max(1, dearer[y.at]) / max(full, 0.01)
			y.left, poor = 0, true
			continue
		}
		n := b.times(&s.p.Options[o], items, min(1+y.left/bulkShare, y.left), remaining)
		if len(items) == 0 || n == 0 {
			y.left = 0
			continue
		}
		node := model.Node{Option: o, N: n, Items: slices.Clone(items)}
		b.buy(&s.p.Options[o], &node, remaining)
		out = append(out, node)
		y.left -= n
		if len(out)%tidyEvery == 0 && len(s.stage.racks) > 0 {
			s.stage.tidy(remaining)
			f.rack(&s.stage, values)
		}
	}
}
