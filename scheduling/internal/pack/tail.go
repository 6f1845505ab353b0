package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// tailNodes bounds one search for a fleet, and ownFirst is how many times their worth pods
// count for on machines that are bought for them.
const tailNodes, ownFirst = 20_000, 4

// tailSlacks are how much more room than is asked for a fleet for the rest has: pods do
// not fill machines to the last byte.
func tailSlacks() []float64 { return []float64{0, 0.002, 0.005, 0.01, 0.02, 0.04} }

// tail looks for machines for what remains of a blend: fleets, with machines of their own
// for what does not fit, or only these. It buys the cheapest that hold everything, or
// nothing.
func (s *search) tail(x *blend, pass int, remaining []int64, values []float64, b *budget) []model.Node {
	var best []model.Node
	var bestLeft []int64
	limit := int64(1) << 62
	consider := func(nodes []model.Node, left []int64) (fits bool) {
		if fits = !anyLeft(x.classes, left); !fits {
			nodes = append(nodes, s.construct(pass, left, values, b)...)
		}
		s.giveBack(nodes, b)
		if cost := s.p.Cost(nodes); cost < limit && !anyLeft(x.classes, left) {
			best, bestLeft, limit = nodes, left, cost
		}
		return fits
	}
	for _, slack := range tailSlacks() {
		most := tailNodes
		if s.keeping {
			if most = min(most, int(s.keptUntil-s.fill.work)*coverWork); most <= 0 {
				break
			}
		}
		left := slices.Clone(remaining)
		if nodes := s.fleets(x, left, values, terms{limit, slack, most}, b); nodes != nil && consider(nodes, left) {
			break
		}
	}
	if len(x.kinds) > 1 || best == nil {
		consider(nil, slices.Clone(remaining))
	}
	for i := range best {
		b.spend(&s.p.Options[best[i].Option], best[i].N)
	}
	if best != nil {
		copy(remaining, bestLeft)
	}
	return best
}

// fleets buys a fleet for each kind of pods, those first that may be in the fewest rows;
// others may use what room is left there.
func (s *search) fleets(x *blend, remaining []int64, values []float64, t terms, b *budget) []model.Node {
	order := make([]int32, len(x.kinds))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(len(x.kinds[a]), len(x.kinds[b])) })
	var out []model.Node
	for _, k := range order {
		var own []model.ClassID
		boosted := slices.Clone(values)
		for _, c := range x.classes {
			if remaining[c] > 0 && x.kindOf[s.p.Classes[c].Group] == k {
				own = append(own, c)
				boosted[c] *= ownFirst
			}
		}
		if len(own) == 0 {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(x.classes), func(c model.ClassID) bool { return remaining[c] == 0 })
		out = append(out, s.refit(x.m, x.m.all, own, left, remaining, boosted, t, b)...)
	}
	return out
}

// giveBack returns machines to the budget.
func (s *search) giveBack(nodes []model.Node, b *budget) {
	for i := range nodes {
		b.spend(&s.p.Options[nodes[i].Option], -nodes[i].N)
	}
}

// anyLeft reports whether some of the classes have pods left.
func anyLeft(classes []model.ClassID, remaining []int64) bool {
	return slices.ContainsFunc(classes, func(c model.ClassID) bool { return remaining[c] > 0 })
}
