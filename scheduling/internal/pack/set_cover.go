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
	// mostNeeds bounds the sets of rows that have a constraint of their own.
	mostNeeds = 24
	// Values of pods are multiplied by ownFirst for each row that does not admit them, up to mostOwn rows, so
	// that they are placed before pods with more choice.
	ownFirst, mostOwn = 4, 8
)

// coverTerms bound the search for a cover: its cost is below limit, it has slack times more room than the pods
// request, and at most so many linear programs are solved.
type coverTerms struct {
	limit    int64
	slack    float64
	programs int
}

// buyCover buys the cheapest set of machines whose total room suffices for the remaining pods of the classes,
// and for each subset of them on the rows that admit it. It fills them, repairs overloads, and buys machines
// for pods that still have no place. It returns nil where there is no such set below the limit.
func (l *lns) buyCover(m *greedy.Market, places []int, classes []model.ClassID, remaining []int64, values []float64, t coverTerms, b *greedy.Budget, random *rand.Rand) []model.Node {
	places = l.unlimited(places, m)
	needs, boosted := l.needs(m, classes, remaining, values, 1+t.slack)
	fleet := l.cover(m, places, needs, t)
	if fleet == nil || !l.spendOn(m, fleet, b) {
		return nil
	}
	slices.SortStableFunc(fleet, func(i, j int) int { return len(m.KindsIn[m.Row[j]]) - len(m.KindsIn[m.Row[i]]) })
	out := l.fill.FillSet(m, fleet, classes, remaining, boosted, b)
	left := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool { return remaining[c] == 0 })
	if len(left) > 0 && len(out) == len(fleet) {
		if nodes := l.insertByRepair(m, out, classes, remaining, random); nodes != nil {
			return nodes
		}
	}
	if len(left) > 0 && l.p.Cost(out) < t.limit {
		out = append(out, l.reconstruct(m, l.sample(places, len(left), random), left, remaining, values, b, random)...)
	}
	return out
}

// need is a constraint of the set cover: an amount of a resource, or a number of machines, on options of
// certain rows.
type need struct {
	dim   int // of the resource; −1 for a number of machines
	asked float64
	rows  model.Bits
}

// share returns the part of the need that one machine of an option meets.
func (n *need) share(option *model.Option, row int32) float64 {
	switch {
	case !n.rows.Has(int(row)):
		return 0
	case n.dim < 0:
		return 1 / n.asked
	}
	return min(1, float64(option.Room[n.dim])/n.asked)
}

// cover returns the places of the cheapest machines that meet all needs, the dearest first; nil for none.
func (l *lns) cover(m *greedy.Market, places []int, needs []need, t coverTerms) (fleet []int) {
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Compare(l.p.Options[m.Options[b]].Cost, l.p.Options[m.Options[a]].Cost)
	})
	costs, shares := make([]float64, 0, len(places)), make([]float64, 0, len(needs)*len(places))
	for _, at := range places {
		option := &l.p.Options[m.Options[at]]
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
	l.fill.Work += x.Work
	for i, column := range fleet {
		fleet[i] = places[column]
	}
	return fleet
}

// unlimited returns the places whose options have no limited supply.
func (l *lns) unlimited(places []int, m *greedy.Market) []int {
	if len(l.p.Supply) == 0 {
		return places
	}
	return slices.DeleteFunc(slices.Clone(places), func(at int) bool { return l.p.Options[m.Options[at]].Supply != model.NoSupply })
}

// needs states the constraints: for the pods that the same rows admit on these rows, and for unions of such row
// sets where they overlap, because a machine's room counts for only one of them. times scales the requests.
// boosted are the values, raised for pods that few rows admit.
func (l *lns) needs(m *greedy.Market, classes []model.ClassID, remaining []int64, values []float64, times float64) (out []need, boosted []float64) {
	var kinds []int32
	for _, c := range classes {
		switch k := m.KindOf[l.p.Classes[c].Group]; {
		case k < 0:
			return nil, values // a pass before this one admitted it
		case remaining[c] > 0 && !slices.Contains(kinds, k):
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	boosted = values
	if len(kinds) > 1 {
		boosted = slices.Clone(values)
		for _, c := range classes {
			missing := len(m.Rows) - len(m.Kinds[m.KindOf[l.p.Classes[c].Group]])
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
			rows := m.Kinds[m.KindOf[l.p.Classes[c].Group]]
			return slices.ContainsFunc(rows, func(r int32) bool { return !set.Has(int(r)) })
		})
		out = append(out, l.need(own, remaining, set, times)...)
	}
	return out, boosted
}

// need states the constraints of some classes on a set of rows: their total request, and the number of machines
// that per-node limits make necessary.
func (l *lns) need(classes []model.ClassID, remaining []int64, rows model.Bits, times float64) (out []need) {
	for d := range l.p.Dims {
		asked := int64(0)
		for _, c := range classes {
			asked += l.p.Classes[c].Request[d] * remaining[c]
		}
		if asked > 0 {
			out = append(out, need{d, float64(asked) * times, rows})
		}
	}
	if slots := l.fill.Slots(classes, remaining); slots > 1 {
		out = append(out, need{-1, float64(slots), rows})
	}
	return out
}

// spendOn takes the machines of a cover out of the budget, all of them or none, which it reports.
func (l *lns) spendOn(m *greedy.Market, fleet []int, b *greedy.Budget) bool {
	for i, at := range fleet {
		option := &l.p.Options[m.Options[at]]
		if b.Affords(option, 1) == 0 {
			for _, before := range fleet[:i] {
				b.Spend(&l.p.Options[m.Options[before]], -1)
			}
			return false
		}
		b.Spend(option, 1)
	}
	return true
}
