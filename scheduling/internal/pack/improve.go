package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/columns"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// improve works on the passes from the given one on. It takes a few machines of one pass apart, badly filled ones more often,
// and packs their pods anew; what costs less, or as much with fewer machines,
// stays. It ends with the budget, the deadline, or after tries in vain that grow
// with the number of machines.
func (s *search) improve(a *attempt, values []float64, from int) {
	for i := range s.p.Passes {
		if i < from || len(a.bought[i]) == 0 {
			continue
		}
		a.bought[i] = s.improvePass(s.markets[i], model.Unbundle(a.bought[i]), values, a.budget, s.random, s.wanted(a, i))
	}
	a.evaluate(s.p, s.levels)
}

// At least fewestPlaces of a market are filled to pack machines anew, and not many more
// than it takes for mostFillings with the number of classes.
const fewestPlaces, mostFillings = 12, 2000

// crowdedPlaces is how many times as many places are filled for pods under per-node limits.
const crowdedPlaces = 4

// fleetPrograms is how many linear programs the search for one fleet takes at most.
const fleetPrograms, fewNodes = 12, 64

// extraRoom draws how much more room than is asked for a fleet has.
func extraRoom(random *rand.Rand) float64 {
	return [...]float64{0, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06}[random.IntN(8)]
}

// exchange replaces every machine by the cheapest option that holds its pods.
func (s *search) exchange(a *attempt) {
	for i := range s.p.Passes {
		if len(a.bought[i]) == 0 {
			continue
		}
		nodes := model.Unbundle(a.bought[i])
		remaining := make([]int64, len(s.p.Classes))
		for at := range nodes {
			picked := []int{at}
			cost, _ := s.takeApart(nodes, picked, remaining, a.budget)
			if fresh := s.unite(s.markets[i], nodes, picked, remaining, cost, a.budget); fresh != nil {
				nodes[at] = fresh[0]
				continue
			}
			a.budget.Spend(&s.p.Options[nodes[at].Option], 1)
			clear(remaining)
		}
		a.bought[i] = nodes
	}
	a.evaluate(s.p, s.levels)
}

// improvePass works on the machines of one pass, bought once each, and returns those
// that it ends with. It ends early where they cost no more than wanted.
func (s *search) improvePass(m *greedy.Market, nodes []model.Node, values []float64, b *greedy.Budget, random *rand.Rand, wanted int64) []model.Node {
	r := newRanking(s.p, nodes, values)
	start := slices.Clone(r.nodes)
	crew := s.newWorkers(m, len(nodes), values, b)
	for vain := 0; len(r.nodes) > 0 && vain < s.patience(len(r.nodes)) && !s.over(); {
		crew.draw(r.nodes, random)
		crew.try(r.nodes)
		if vain = crew.make(r, vain); vain == 0 && wanted > 0 && s.p.Cost(r.nodes) <= wanted {
			break
		}
	}
	if len(r.nodes) == len(start) && s.p.Cost(r.nodes) == s.p.Cost(start) {
		return start // pods were moved about for nothing
	}
	return r.nodes
}

// triesPerChoice is how often each choice of few machines is packed anew at the least work, and
// deepPatience how many times as many tries more work makes.
const triesPerChoice, deepPatience = 16, 2

// patience is how many tries in vain end an improvement. Of few machines there are few
// choices: each is tried some times only.
func (s *search) patience(machines int) int {
	most := 50 + 8*machines
	if machines < 8 {
		most = min(most, triesPerChoice*(1<<machines-1))
	}
	if s.deep {
		most *= deepPatience
	}
	return most
}

// operator is a way to pack pods anew.
type operator int

const (
	byFleet  operator = iota // the cheapest machines with so much room together
	byOne                    // one machine
	byWorth                  // one machine after the other, at worths and prices that are a little off
	byMixing                 // column generation
	operators
)

// anew packs the pods of the picked machines anew. It returns the machines that it buys for
// them, or nil where they would cost more, or as much and be more, and whether that is a gain.
func (s *search) anew(by operator, m *greedy.Market, nodes []model.Node, picked []int, values []float64, remaining []int64, b *greedy.Budget, random *rand.Rand) (fresh []model.Node, gain bool) {
	classes := s.heldBy(nodes, picked)
	cost, count := s.takeApart(nodes, picked, remaining, b)
	switch by {
	case byFleet:
		t := terms{cost, extraRoom(random), fleetPrograms}
		if s.deep && len(nodes) <= fewNodes {
			t.programs *= 5
		}
		fresh = s.fleet(m, m.UpTo(s.p, cost), classes, remaining, s.jitter(values, classes, random), t, b, random)
	case byOne:
		fresh = s.unite(m, nodes, picked, remaining, cost, b)
	case byWorth:
		places := s.sample(m.UpTo(s.p, cost), len(classes), random)
		fresh = s.reconstruct(m, places, classes, remaining, s.jitter(values, classes, random), b, random)
	case byMixing:
		fresh = s.mix(m, nodes, picked, remaining)
	}
	freshCost, freshCount := s.p.Cost(fresh), model.Count(fresh)
	left := slices.ContainsFunc(classes, func(c model.ClassID) bool { return remaining[c] > 0 })
	gain = freshCost < cost || freshCost == cost && freshCount < count
	if !left && (gain || by != byOne && !s.p.Limited() && freshCost == cost && freshCount == count) {
		return fresh, gain
	}
	s.restore(nodes, picked, fresh, b)
	for _, c := range classes {
		remaining[c] = 0
	}
	return nil, false
}

// mixClasses is for how many classes at most fillings are mixed to pack a few machines anew.
const mixClasses = 64

// mixWork bounds the work for that.
const mixWork = 300_000

// mix packs the pods of the picked machines anew by column generation.
func (s *search) mix(m *greedy.Market, nodes []model.Node, picked []int, remaining []int64) []model.Node {
	if len(s.p.Floors) > 0 || s.p.Limited() || len(s.classes) > mixClasses {
		return nil
	}
	some := make([]model.Node, len(picked))
	for i, at := range picked {
		some[i] = nodes[at]
	}
	x := columns.New(s.p, s.fill, m, some, mixWork, s.overdue)
	if x == nil {
		return nil
	}
	fresh := x.Dive(columns.Again)
	if fresh != nil {
		for _, c := range s.classes {
			remaining[c] = 0
		}
	}
	return fresh
}

// restore gives fresh machines back and takes the picked ones again.
func (s *search) restore(nodes []model.Node, picked []int, fresh []model.Node, b *greedy.Budget) {
	for i := range fresh {
		b.Spend(&s.p.Options[fresh[i].Option], -fresh[i].N)
	}
	for _, at := range picked {
		b.Spend(&s.p.Options[nodes[at].Option], 1)
	}
}

// reconstruct buys machines for what remains of some classes, at the given places of
// a market, at costs that are a little off, so that others come out first.
func (s *search) reconstruct(m *greedy.Market, places []int, classes []model.ClassID, remaining []int64, values []float64, b *greedy.Budget, random *rand.Rand) []model.Node {
	s.jitterCosts(m, places, random)
	fresh := s.fill.Buy(m, places, classes, remaining, values, b)
	for _, at := range places {
		s.fill.Costs[m.Options[at]] = s.prices[m.Options[at]]
	}
	return fresh
}

// sample draws some of the places of a market where filling all for so many classes would
// take long: more where pods under per-node limits make machines small and options matter more.
func (s *search) sample(places []int, classes int, random *rand.Rand) []int {
	want := max(fewestPlaces, mostFillings/max(classes, 1))
	if s.fill.NodeLimits {
		want *= crowdedPlaces
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

// heldBy lists the classes of the pods on the picked machines.
func (s *search) heldBy(nodes []model.Node, picked []int) []model.ClassID {
	s.classes = s.classes[:0]
	for _, at := range picked {
		for _, it := range nodes[at].Items {
			s.classes = append(s.classes, it.Class)
		}
	}
	slices.Sort(s.classes)
	s.classes = slices.Compact(s.classes)
	return s.classes
}

// takeApart gives the picked machines back and puts their pods into remaining.
func (s *search) takeApart(nodes []model.Node, picked []int, remaining []int64, b *greedy.Budget) (cost, count int64) {
	for _, at := range picked {
		node := &nodes[at]
		cost += s.p.Options[node.Option].Cost
		count++
		b.Spend(&s.p.Options[node.Option], -1)
		for _, it := range node.Items {
			remaining[it.Class] += it.N
		}
	}
	return cost, count
}

// unite looks for one machine that holds all that the picked ones held and costs
// no more than they did; with a single one picked, for a cheaper type.
func (s *search) unite(m *greedy.Market, nodes []model.Node, picked []int, remaining []int64, cost int64, b *greedy.Budget) []model.Node {
	var items []model.Item
	groups := model.NewBits(s.p.Groups)
	for _, at := range picked {
		for _, it := range nodes[at].Items {
			groups.Set(int(s.p.Classes[it.Class].Group))
			if !slices.ContainsFunc(items, func(have model.Item) bool { return have.Class == it.Class }) {
				items = append(items, model.Item{Class: it.Class, N: remaining[it.Class]})
			}
		}
	}
	for i, it := range items {
		if it.N > s.p.Joining(items[:i], nil, it.Class) {
			return nil
		}
	}
	load := make([]int64, s.p.Dims)
	s.p.Load(load, items)
	for _, at := range m.ByCost {
		option := &s.p.Options[m.Options[at]]
		if option.Cost > cost {
			return nil
		}
		s.fill.Work++
		if !model.Fits(option.Room, load) || !m.Rows[m.Row[at]].Contains(groups) || b.Affords(option, 1) == 0 {
			continue
		}
		ok, looked := s.p.MeetsFloor(option, groups, load, items)
		if s.fill.Work += looked; !ok {
			continue
		}
		b.Spend(option, 1)
		clear(remaining)
		return []model.Node{{Option: m.Options[at], N: 1, Items: items}}
	}
	return nil
}

// jitterCosts changes what options count for.
func (s *search) jitterCosts(m *greedy.Market, places []int, random *rand.Rand) {
	width := [...]float64{0, 0, 0.15, 0.5}[random.IntN(4)]
	if width == 0 {
		return
	}
	for _, at := range places {
		o := m.Options[at]
		s.fill.Costs[o] = s.prices[o] * (1 + width*(2*random.Float64()-1))
	}
}

// pick draws 1 to 12 different places below n, ascending; low places (machines
// that hold little for their price) come up more often.
func pick(random *rand.Rand, n int) []int {
	want := min(n, 1+random.IntN(12))
	var out []int
	for tries := 0; len(out) < want && tries < 4*want; tries++ {
		at := random.IntN(n)
		if random.IntN(3) > 0 {
			at = min(at, random.IntN(n), random.IntN(n))
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// draw picks machines to take apart: any, or some that hold pods of a kind that few rows admit,
// or that stand in one row, and a few others.
func (s *search) draw(m *greedy.Market, nodes []model.Node, random *rand.Rand) []int {
	picked := pick(random, len(nodes))
	if len(m.Rows) == 1 {
		return picked
	}
	var alike []int
	switch random.IntN(4) {
	case 0:
		return picked
	case 1:
		alike = s.holding(m, nodes, random)
	default:
		alike = s.inRow(m, nodes, picked, random)
	}
	if len(alike) == 0 {
		return picked
	}
	alike = append(alike, picked[:random.IntN(min(len(picked), mostOthers)+1)]...)
	slices.Sort(alike)
	return slices.Compact(alike)
}

// inRow are machines of the row of one that is picked, not too far from those that are picked.
func (s *search) inRow(m *greedy.Market, nodes []model.Node, picked []int, random *rand.Rand) (out []int) {
	row := m.RowOf[nodes[picked[random.IntN(len(picked))]].Option]
	for _, at := range picked {
		for next := at; next < min(len(nodes), at+8*len(m.Rows)); next++ {
			if m.RowOf[nodes[next].Option] == row && !slices.Contains(out, next) {
				out = append(out, next)
				break
			}
		}
	}
	return out
}

// fewestHolding and mostHolding are how many machines of a kind of pods are taken apart, and
// mostOthers how many others with machines that are alike.
const fewestHolding, mostHolding, mostOthers = 3, 16, 4

// holding draws some of the machines that hold pods of a kind that not all rows admit.
func (s *search) holding(m *greedy.Market, nodes []model.Node, random *rand.Rand) []int {
	if len(m.Kinds) < 2 {
		return nil
	}
	k, out := int32(random.IntN(len(m.Kinds))), s.held[:0]
	for at := range nodes {
		if slices.ContainsFunc(nodes[at].Items, func(it model.Item) bool { return m.KindOf[s.p.Classes[it.Class].Group] == k }) {
			out = append(out, at)
		}
	}
	s.held = out
	s.fill.Work += int64(len(nodes))
	most := min(len(out), fewestHolding+random.IntN(mostHolding-fewestHolding+1))
	for i := range most {
		at := i + random.IntN(len(out)-i)
		out[i], out[at] = out[at], out[i]
	}
	return slices.Clone(out[:most])
}

// jitter changes what some classes are worth by up to a few percent, so that the same
// machines can come out packed differently. What it says of others means nothing.
func (s *search) jitter(values []float64, classes []model.ClassID, random *rand.Rand) []float64 {
	width := [...]float64{0, 0.03, 0.1, 0.3}[random.IntN(4)]
	for _, c := range classes {
		s.jittered[c] = values[c]
		if width > 0 {
			s.jittered[c] = values[c] * (1 + width*(2*random.Float64()-1))
		}
	}
	return s.jittered
}
