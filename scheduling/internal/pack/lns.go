package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/columns"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// lns is the large neighbourhood search on the machines of one pass: its operators take a few machines apart
// (destroy, see destroy.go) and pack their pods anew (repair). Each worker has one of its own, because it holds
// scratch memory.
type lns struct {
	p        *model.Problem
	fill     *greedy.Filler
	prices   []float64 // by option: its cost, which fill.Costs departs from for a while
	overdue  func() bool
	deep     bool // more than the least work may be done
	jittered []float64
	held     []int           // scratch of holding
	classes  []model.ClassID // of the pods on the machines that are taken apart
	sizes    []float64       // of overloadRepair: by class and resource, a pod's request in pods of the usual size
}

// clone returns the same operators with scratch memory of their own, for another worker. late reports whether the
// deadline has passed.
func (l *lns) clone(late func() bool) *lns {
	return &lns{
		p: l.p, fill: l.fill.Clone(), prices: l.prices, overdue: late, deep: l.deep,
		jittered: make([]float64, len(l.jittered)), sizes: make([]float64, len(l.sizes)),
	}
}

// fewestPlaces is the least number of a market's places that are filled to pack a few machines again.
// mostFillings bounds places times classes above it.
const fewestPlaces, mostFillings = 12, 2000

// placesByNodeLimit multiplies the places where per-node limits apply, because machines are small then.
const placesByNodeLimit = 4

// coverPrograms bounds the linear programs of one cover. A deep search solves more for at most fewNodes
// machines.
const coverPrograms, fewNodes = 12, 64

// extraRoom draws the slack of a cover, as a share of the requests: with none, its machines are seldom filled
// completely.
func extraRoom(random *rand.Rand) float64 {
	return [...]float64{0, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06}[random.IntN(8)]
}

// operator is a way to pack the pods of a few machines again.
type operator int

const (
	bySetCover   operator = iota // the cheapest set of machines with enough room in total
	bySingleNode                 // one machine for all of the pods
	byGreedy                     // one machine after the other, by perturbed values and prices
	byColumns                    // column generation
	operators
)

// repack packs the pods of the picked machines again. It returns the new machines, or nil where they cost more,
// or as much and are more. gain is false for a change that costs the same with as many machines: it is made
// because it may lead to a gain.
func (l *lns) repack(by operator, m *greedy.Market, nodes []model.Node, picked []int, values []float64, remaining []int64, b *greedy.Budget, random *rand.Rand) (fresh []model.Node, gain bool) {
	classes := l.heldBy(nodes, picked)
	cost, count := l.takeApart(nodes, picked, remaining, b)
	switch by {
	case bySetCover:
		t := coverTerms{cost, extraRoom(random), coverPrograms}
		if l.deep && len(nodes) <= fewNodes {
			t.programs *= 5
		}
		fresh = l.buyCover(m, m.UpTo(l.p, cost), classes, remaining, l.jitter(values, classes, random), t, b, random)
	case bySingleNode:
		fresh = l.mergeIntoOne(m, nodes, picked, remaining, cost, b)
	case byGreedy:
		places := l.sample(m.UpTo(l.p, cost), len(classes), random)
		fresh = l.reconstruct(m, places, classes, remaining, l.jitter(values, classes, random), b, random)
	case byColumns:
		fresh = l.generateColumns(m, nodes, picked, remaining)
	}
	freshCost, freshCount := l.p.Cost(fresh), model.Count(fresh)
	left := slices.ContainsFunc(classes, func(c model.ClassID) bool { return remaining[c] > 0 })
	gain = freshCost < cost || freshCost == cost && freshCount < count
	if !left && (gain || by != bySingleNode && !l.p.Limited() && freshCost == cost && freshCount == count) {
		return fresh, gain
	}
	l.restore(nodes, picked, fresh, b)
	for _, c := range classes {
		remaining[c] = 0
	}
	return nil, false
}

// columnClasses is the largest number of classes for which the operator generates columns.
const columnClasses = 64

// columnWork bounds the work of one call.
const columnWork = 300_000

// generateColumns packs the pods of the picked machines by column generation. It returns nil where that finds
// no answer, or where floors, limits or reservations apply.
func (l *lns) generateColumns(m *greedy.Market, nodes []model.Node, picked []int, remaining []int64) []model.Node {
	if len(l.p.Floors) > 0 || l.p.Limited() || len(l.classes) > columnClasses {
		return nil
	}
	some := make([]model.Node, len(picked))
	for i, at := range picked {
		some[i] = nodes[at]
	}
	x := columns.New(l.p, l.fill, m, some, nil, columnWork, l.overdue)
	if x == nil {
		return nil
	}
	fresh := x.Dive(columns.Again)
	if fresh != nil {
		for _, c := range l.classes {
			remaining[c] = 0
		}
	}
	return fresh
}

// restore undoes a change in the budget.
func (l *lns) restore(nodes []model.Node, picked []int, fresh []model.Node, b *greedy.Budget) {
	for i := range fresh {
		b.Spend(&l.p.Options[fresh[i].Option], -fresh[i].N)
	}
	for _, at := range picked {
		b.Spend(&l.p.Options[nodes[at].Option], 1)
	}
}

// reconstruct buys machines for the remaining pods of some classes, at the given places of a market, with
// perturbed costs, so that other options come first than before.
func (l *lns) reconstruct(m *greedy.Market, places []int, classes []model.ClassID, remaining []int64, values []float64, b *greedy.Budget, random *rand.Rand) []model.Node {
	l.jitterCosts(m, places, random)
	fresh := l.fill.Buy(m, places, classes, remaining, values, b)
	for _, at := range places {
		l.fill.Costs[m.Options[at]] = l.prices[m.Options[at]]
	}
	return fresh
}

// sample draws places where filling all of them would take long.
func (l *lns) sample(places []int, classes int, random *rand.Rand) []int {
	want := max(fewestPlaces, mostFillings/max(classes, 1))
	if l.fill.NodeLimits {
		want *= placesByNodeLimit
	}
	if len(places) <= want {
		return places
	}
	out := make([]int, 0, want)
	for i, at := range places {
		if random.IntN(len(places)-i) < want-len(out) {
			out = append(out, at)
		}
	}
	return out
}

// mergeIntoOne returns one machine that holds the pods of all picked ones and costs at most as much; nil for
// none. With a single machine picked, it is replaced by a cheaper option.
func (l *lns) mergeIntoOne(m *greedy.Market, nodes []model.Node, picked []int, remaining []int64, cost int64, b *greedy.Budget) []model.Node {
	var items []model.Item
	groups := model.NewBits(l.p.Groups)
	for _, at := range picked {
		for _, it := range nodes[at].Items {
			groups.Set(int(l.p.Classes[it.Class].Group))
			if !slices.ContainsFunc(items, func(have model.Item) bool { return have.Class == it.Class }) {
				items = append(items, model.Item{Class: it.Class, N: remaining[it.Class]})
			}
		}
	}
	for i, it := range items {
		if it.N > l.p.Joining(items[:i], nil, it.Class) {
			return nil
		}
	}
	load := make([]int64, l.p.Dims)
	l.p.Load(load, items)
	for _, at := range m.ByCost {
		option := &l.p.Options[m.Options[at]]
		if option.Cost > cost {
			return nil
		}
		l.fill.Work++
		if !model.Fits(option.Room, load) || !m.Rows[m.Row[at]].Contains(groups) || b.Affords(option, 1) == 0 {
			continue
		}
		ok, looked := l.p.MeetsFloor(option, groups, load, items)
		if l.fill.Work += looked; !ok {
			continue
		}
		b.Spend(option, 1)
		clear(remaining)
		return []model.Node{{Option: m.Options[at], N: 1, Items: items}}
	}
	return nil
}

// jitterCosts perturbs the costs of options.
func (l *lns) jitterCosts(m *greedy.Market, places []int, random *rand.Rand) {
	width := [...]float64{0, 0, 0.15, 0.5}[random.IntN(4)]
	if width == 0 {
		return
	}
	for _, at := range places {
		o := m.Options[at]
		l.fill.Costs[o] = l.prices[o] * (1 + width*(2*random.Float64()-1))
	}
}

// jitter perturbs the values of some classes by a few percent. Values of the other classes in the result are
// undefined. The result is valid until the next call.
func (l *lns) jitter(values []float64, classes []model.ClassID, random *rand.Rand) []float64 {
	width := [...]float64{0, 0.03, 0.1, 0.3}[random.IntN(4)]
	for _, c := range classes {
		l.jittered[c] = values[c]
		if width > 0 {
			l.jittered[c] = values[c] * (1 + width*(2*random.Float64()-1))
		}
	}
	return l.jittered
}

// costByPrice resets the costs of options to their prices.
func (l *lns) costByPrice() {
	l.fill.Paced = true
	copy(l.fill.Costs, l.prices)
}
