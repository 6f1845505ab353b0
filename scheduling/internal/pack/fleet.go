package pack

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// mostNeeds bounds how many sets of rows are told apart.
	mostNeeds = 24
	// ownFirst is how many times their worth pods count for on the machines of a fleet for each
	// row that does not admit them, up to mostOwn rows.
	ownFirst, mostOwn = 4, 8
)

// terms are what a fleet is looked for on: below a cost, with so much more room than is
// asked for, and in how many linear programs.
type terms struct {
	limit    int64
	slack    float64
	programs int
}

// fleet buys the cheapest machines below a limit that have room for what the pods that remain of
// some classes ask for together, and for those of each kind where they may be, puts onto them what
// fits, and buys machines for what does not.
func (s *search) fleet(m *greedy.Market, places []int, classes []model.ClassID, remaining []int64, values []float64, t terms, b *greedy.Budget, random *rand.Rand) []model.Node {
	places = s.endless(places, m)
	needs, boosted := s.needs(m, classes, remaining, values, 1+t.slack)
	fleet := s.cover(m, places, needs, t)
	if fleet == nil || !s.buyFleet(m, fleet, b) {
		return nil
	}
	slices.SortStableFunc(fleet, func(i, j int) int { return len(m.KindsIn[m.Row[j]]) - len(m.KindsIn[m.Row[i]]) })
	out := s.fill.Outfit(m, fleet, classes, remaining, boosted, b)
	left := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool { return remaining[c] == 0 })
	if len(left) > 0 && len(out) == len(fleet) {
		if nodes := s.insertByRepair(m, out, classes, remaining, random); nodes != nil {
			return nodes
		}
	}
	if len(left) > 0 && s.p.Cost(out) < t.limit {
		out = append(out, s.reconstruct(m, s.sample(places, len(left), random), left, remaining, values, b, random)...)
	}
	return out
}

// need is what a fleet must have: so much of a resource on options of certain rows of the
// market, or so many machines.
type need struct {
	dim   int // of the resource; -1 for machines
	asked float64
	rows  model.Bits
}

// share is which part of a need an option meets.
func (n *need) share(option *model.Option, row int32) float64 {
	switch {
	case !n.rows.Has(int(row)):
		return 0
	case n.dim < 0:
		return 1 / n.asked
	}
	return min(1, float64(option.Room[n.dim])/n.asked)
}

// cover returns the places of the cheapest machines that meet all needs, the dearest first.
func (s *search) cover(m *greedy.Market, places []int, needs []need, t terms) (fleet []int) {
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Compare(s.p.Options[m.Options[b]].Cost, s.p.Options[m.Options[a]].Cost)
	})
	costs, shares := make([]float64, 0, len(places)), make([]float64, 0, len(needs)*len(places))
	for _, at := range places {
		option := &s.p.Options[m.Options[at]]
		costs = append(costs, float64(max(option.Cost, 1)))
		for i := range needs {
			shares = append(shares, needs[i].share(option, m.Row[at]))
		}
	}
	x := linear.NewWhole(len(needs), costs, shares)
	if x == nil {
		return nil
	}
	fleet = x.Find(float64(t.limit), t.programs)
	s.fill.Work += x.Work
	for i, column := range fleet {
		fleet[i] = places[column]
	}
	return fleet
}

// endless are the places of the options that may be bought without limit in number.
func (s *search) endless(places []int, m *greedy.Market) []int {
	if len(s.p.Supply) == 0 {
		return places
	}
	return slices.DeleteFunc(slices.Clone(places), func(at int) bool { return s.p.Options[m.Options[at]].Supply != model.NoSupply })
}

// needs are what the pods that the same rows admit need on these, so many times, and those of
// several such kinds on all their rows where these overlap: what a machine has counts for one of
// them only. It returns worths that are raised for those that few rows admit with it.
func (s *search) needs(m *greedy.Market, classes []model.ClassID, remaining []int64, values []float64, times float64) (out []need, boosted []float64) {
	var kinds []int32
	for _, c := range classes {
		switch k := m.KindOf[s.p.Classes[c].Group]; {
		case k < 0:
			return nil, values // an earlier pass let it in
		case remaining[c] > 0 && !slices.Contains(kinds, k):
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	boosted = values
	if len(kinds) > 1 {
		boosted = slices.Clone(values)
		for _, c := range classes {
			missing := len(m.Rows) - len(m.Kinds[m.KindOf[s.p.Classes[c].Group]])
			boosted[c] *= math.Pow(ownFirst, float64(min(mostOwn, missing)))
		}
	}
	var sets []model.Bits // of rows
	for _, k := range kinds {
		set := model.NewBits(len(m.Rows))
		for _, r := range m.Kinds[k] {
			set.Set(int(r))
		}
		sets = append(sets, set)
	}
	for i := 0; i < len(sets) && len(sets) < mostNeeds; i++ {
		for j := 0; j < i && len(sets) < mostNeeds; j++ {
			both := sets[i].Clone()
			both.Or(sets[j])
			if both.Count() < sets[i].Count()+sets[j].Count() && !slices.ContainsFunc(sets, func(have model.Bits) bool { return slices.Equal(have, both) }) {
				sets = append(sets, both)
			}
		}
	}
	for _, set := range sets {
		own := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool {
			rows := m.Kinds[m.KindOf[s.p.Classes[c].Group]]
			return slices.ContainsFunc(rows, func(r int32) bool { return !set.Has(int(r)) })
		})
		out = append(out, s.need(own, remaining, set, times)...)
	}
	return out, boosted
}

// need is what the pods of some classes ask for on some rows, and how many machines they make for.
func (s *search) need(classes []model.ClassID, remaining []int64, rows model.Bits, times float64) (out []need) {
	for d := range s.p.Dims {
		asked := int64(0)
		for _, c := range classes {
			asked += s.p.Classes[c].Request[d] * remaining[c]
		}
		if asked > 0 {
			out = append(out, need{d, float64(asked) * times, rows})
		}
	}
	if slots := s.fill.Slots(classes, remaining); slots > 1 {
		out = append(out, need{-1, float64(slots), rows})
	}
	return out
}

// buyFleet takes the machines of a fleet out of the budget, all or none.
func (s *search) buyFleet(m *greedy.Market, fleet []int, b *greedy.Budget) bool {
	for i, at := range fleet {
		option := &s.p.Options[m.Options[at]]
		if b.Affords(option, 1) == 0 {
			for _, before := range fleet[:i] {
				b.Spend(&s.p.Options[m.Options[before]], -1)
			}
			return false
		}
		b.Spend(option, 1)
	}
	return true
}
