package pack

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

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
func (s *search) fleet(m *market, places []int, classes []model.ClassID, remaining []int64, values []float64, t terms, b *budget, random *rand.Rand) []model.Node {
	places = s.endless(places, m)
	needs, boosted := s.needs(m, classes, remaining, values, 1+t.slack)
	fleet := s.cover(m, places, needs, t)
	if fleet == nil || !s.buyFleet(m, fleet, b) {
		return nil
	}
	slices.SortStableFunc(fleet, func(i, j int) int { return len(m.kindsIn[m.row[j]]) - len(m.kindsIn[m.row[i]]) })
	out := s.outfit(m, fleet, classes, remaining, boosted, b)
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
func (s *search) cover(m *market, places []int, needs []need, t terms) (fleet []int) {
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Compare(s.p.Options[m.options[b]].Cost, s.p.Options[m.options[a]].Cost)
	})
	costs, shares := make([]float64, 0, len(places)), make([]float64, 0, len(needs)*len(places))
	for _, at := range places {
		option := &s.p.Options[m.options[at]]
		costs = append(costs, float64(max(option.Cost, 1)))
		for i := range needs {
			shares = append(shares, needs[i].share(option, m.row[at]))
		}
	}
	x := linear.NewWhole(len(needs), costs, shares)
	if x == nil {
		return nil
	}
	fleet = x.Find(float64(t.limit), t.programs)
	s.fill.work += x.Work
	for i, column := range fleet {
		fleet[i] = places[column]
	}
	return fleet
}

// endless are the places of the options that may be bought without limit in number.
func (s *search) endless(places []int, m *market) []int {
	if len(s.p.Supply) == 0 {
		return places
	}
	return slices.DeleteFunc(slices.Clone(places), func(at int) bool { return s.p.Options[m.options[at]].Supply != model.NoSupply })
}

// needs are what the pods that the same rows admit need on these, so many times, and those of
// several such kinds on all their rows where these overlap: what a machine has counts for one of
// them only. It returns worths that are raised for those that few rows admit with it.
func (s *search) needs(m *market, classes []model.ClassID, remaining []int64, values []float64, times float64) (out []need, boosted []float64) {
	var kinds []int32
	for _, c := range classes {
		switch k := m.kindOf[s.p.Classes[c].Group]; {
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
			missing := len(m.rows) - len(m.kinds[m.kindOf[s.p.Classes[c].Group]])
			boosted[c] *= math.Pow(ownFirst, float64(min(mostOwn, missing)))
		}
	}
	var sets []model.Bits // of rows
	for _, k := range kinds {
		set := model.NewBits(len(m.rows))
		for _, r := range m.kinds[k] {
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
			rows := m.kinds[m.kindOf[s.p.Classes[c].Group]]
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
	if slots := s.fill.slots(classes, remaining); slots > 1 {
		out = append(out, need{-1, float64(slots), rows})
	}
	return out
}

// buyFleet takes the machines of a fleet out of the budget, all or none.
func (s *search) buyFleet(m *market, fleet []int, b *budget) bool {
	for i, at := range fleet {
		option := &s.p.Options[m.options[at]]
		if b.affords(option, 1) == 0 {
			for _, before := range fleet[:i] {
				b.spend(&s.p.Options[m.options[before]], -1)
			}
			return false
		}
		b.spend(option, 1)
	}
	return true
}

// outfit puts pods onto the machines of a fleet, in the order in which they stand, so
// that each gets its part of every resource and none runs out before the others. It
// lowers remaining by what they hold, and gives machines back that stay empty.
func (s *search) outfit(m *market, fleet []int, classes []model.ClassID, remaining []int64, values []float64, b *budget) []model.Node {
	f, dims := s.fill, s.p.Dims
	f.arrange(classes, values)
	f.indexClasses(&s.stage, m, fleet, classes)
	asked, room := make([]float64, dims), make([]float64, dims)
	for _, c := range classes {
		for d, q := range s.p.Classes[c].Request {
			asked[d] += float64(q) * float64(remaining[c])
		}
	}
	for _, at := range fleet {
		for d, n := range s.p.Options[m.options[at]].Room {
			room[d] += float64(n)
		}
	}
	var out []model.Node
	for i, at := range fleet {
		o := m.options[at]
		option := &s.p.Options[o]
		f.hold = f.hold[:0]
		if i < len(fleet)-1 {
			for d, n := range option.Room {
				spare := max(0, room[d]-asked[d])
				f.hold = append(f.hold, int64(float64(n)*spare/max(room[d], 1)))
			}
		}
		if !f.pace.idle {
			there := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool { return !m.rows[m.row[at]].Has(int(s.p.Classes[c].Group)) })
			f.ahead = f.queues(there, remaining, float64(len(fleet)-i))
		}
		items, _ := f.fill(o, nil, s.stage.shelves[m.row[at]], remaining, values)
		for d, n := range option.Room {
			room[d] -= float64(n)
		}
		if len(items) == 0 {
			b.spend(option, -1)
			continue
		}
		for _, it := range items {
			remaining[it.Class] -= it.N
			for d, q := range s.p.Classes[it.Class].Request {
				asked[d] -= float64(q) * float64(it.N)
			}
		}
		out = append(out, model.Node{Option: o, N: 1, Items: slices.Clone(items)})
	}
	f.hold, f.ahead = f.hold[:0], nil
	return out
}
