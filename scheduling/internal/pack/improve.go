package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// improve works on the passes from the given one on. It takes a few machines of one pass apart, badly filled ones more often,
// and packs their pods anew; what costs less, or as much with fewer machines,
// stays. It ends with the budget, the deadline, or after tries in vain that grow
// with the number of machines.
func (s *search) improve(a *attempt, values []float64, from int) {
	random := rand.New(rand.NewPCG(0x706c696d, 0x736f6c6c))
	for i := range s.p.Passes {
		if i < from || len(a.bought[i]) == 0 {
			continue
		}
		a.bought[i] = s.improvePass(s.markets[i], unbundle(a.bought[i]), values, a.budget, random, s.wanted(a, i))
	}
	a.settle(s.p, s.levels)
}

// At least fewestPlaces of a market are filled to pack machines anew, and not many more
// than it takes for mostFillings with the number of classes.
const fewestPlaces, mostFillings = 12, 2000

// crowdedPlaces is how many times as many places are filled for crowded pods.
const crowdedPlaces = 4

// mostPairs is among how many machines all pairs are looked at, and pairsWork what may be
// done for that in any case.
const (
	mostPairs = 24
	pairsWork = 20_000
)

// fleetNodes bounds the search for one fleet.
const fleetNodes = 2000

// fleetSlack draws how much more room than is asked for a fleet has.
func fleetSlack(random *rand.Rand) float64 {
	return [...]float64{0, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06}[random.IntN(8)]
}

// exchange replaces every machine by the cheapest option that holds its pods.
func (s *search) exchange(a *attempt) {
	for i := range s.p.Passes {
		if len(a.bought[i]) == 0 {
			continue
		}
		nodes := unbundle(a.bought[i])
		remaining := make([]int64, len(s.p.Classes))
		for at := range nodes {
			picked := []int{at}
			cost, _ := s.takeApart(nodes, picked, remaining, a.budget)
			if fresh := s.unite(s.markets[i], nodes, picked, remaining, cost, a.budget); fresh != nil {
				nodes[at] = fresh[0]
				continue
			}
			a.budget.spend(&s.p.Options[nodes[at].Option], 1)
			clear(remaining)
		}
		a.bought[i] = nodes
	}
	a.settle(s.p, s.levels)
}

// improvePass works on the machines of one pass, bought once each, and returns those
// that it ends with. It ends early where they cost no more than wanted.
func (s *search) improvePass(m *market, nodes []model.Node, values []float64, b *budget, random *rand.Rand, wanted int64) []model.Node {
	r := newRanking(s.p, nodes, values)
	remaining := make([]int64, len(s.p.Classes))
	crew := s.newCrew(m, len(nodes), values, b)
	vain := 0
	for len(r.nodes) > 0 && vain < s.patience(len(r.nodes)) && !s.over() {
		if crew != nil {
			crew.draw(r.nodes, random)
			crew.try(r.nodes)
			if vain = crew.make(r, vain); vain == 0 && wanted > 0 && s.p.Cost(r.nodes) <= wanted {
				return r.nodes
			}
			continue
		}
		picked := s.pickNear(m, r.nodes, random)
		fresh := s.anew(m, r.nodes, picked, values, remaining, b, random)
		if fresh == nil {
			vain++
			continue
		}
		vain = 0
		r.exchange(picked, unbundle(fresh))
	}
	if s.params.Work > 0 {
		s.regroup(m, r, values, b, random)
	}
	s.unitePairs(m, r, remaining, b)
	if s.params.Work > 0 {
		s.dissolve(m, r, b)
	}
	return r.nodes
}

// triesPerChoice is how often each choice of machines is packed anew at the least work.
const triesPerChoice = 16

// patience is how many tries in vain end an improvement. Of few machines there are few
// choices: the least work tries each some times only.
func (s *search) patience(machines int) int {
	most := 200 + 4*machines
	if s.params.Work == 0 && machines < 8 {
		most = min(most, triesPerChoice*(1<<machines-1))
	}
	return most
}

// anew packs the pods of the picked machines anew. It returns the machines that it buys for
// them, or nil where they would cost more, or as much and be no fewer.
func (s *search) anew(m *market, nodes []model.Node, picked []int, values []float64, remaining []int64, b *budget, random *rand.Rand) []model.Node {
	classes := s.heldBy(nodes, picked)
	cost, count := s.takeApart(nodes, picked, remaining, b)
	var fresh []model.Node
	switch random.IntN(6) {
	case 0, 1, 2:
		t := terms{cost, fleetSlack(random), fleetNodes}
		fresh = s.refit(m, m.upTo(s.p, cost), classes, classes, remaining, s.jitter(values, classes, random), t, b)
	case 3:
		fresh = s.unite(m, nodes, picked, remaining, cost, b)
	default:
		places := s.sample(m.upTo(s.p, cost), len(classes), random)
		fresh = s.reconstruct(m, places, classes, remaining, s.jitter(values, classes, random), b, random)
	}
	freshCost, freshCount := s.p.Cost(fresh), model.Count(fresh)
	left := slices.ContainsFunc(classes, func(c model.ClassID) bool { return remaining[c] > 0 })
	if !left && (freshCost < cost || freshCost == cost && freshCount < count) {
		return fresh
	}
	s.restore(nodes, picked, fresh, b)
	for _, c := range classes {
		remaining[c] = 0
	}
	return nil
}

// unitePairs looks among a few machines for any two that one could stand in for. That is
// worth a little work even where no more is to be done.
func (s *search) unitePairs(m *market, r *ranking, remaining []int64, b *budget) {
	until := s.fill.work + pairsWork
	for i := 0; i < len(r.nodes) && len(r.nodes) <= mostPairs && (!s.over() || !s.late && s.fill.work < until); i++ {
		for j := i + 1; j < len(r.nodes); j++ {
			picked := []int{i, j}
			cost, _ := s.takeApart(r.nodes, picked, remaining, b)
			fresh := s.unite(m, r.nodes, picked, remaining, cost, b)
			if fresh == nil {
				for _, at := range picked {
					b.spend(&s.p.Options[r.nodes[at].Option], 1)
					for _, it := range r.nodes[at].Items {
						remaining[it.Class] = 0
					}
				}
				continue
			}
			r.exchange(picked, fresh)
			i = -1 // from the start: places have changed
			break
		}
	}
}

// reconstruct buys machines for what remains of some classes, at the given places of
// a market, at costs that are a little off, so that others come out first.
func (s *search) reconstruct(m *market, places []int, classes []model.ClassID, remaining []int64, values []float64, b *budget, random *rand.Rand) []model.Node {
	s.jitterCosts(m, places, random)
	s.fill.arrange(classes, values)
	s.fill.stock(&s.stage, m, places, classes)
	fresh := s.fill.construct(&s.stage, remaining, values, b)
	for _, at := range places {
		s.fill.costs[m.options[at]] = s.prices[m.options[at]]
	}
	return fresh
}

// sample draws some of the places of a market where filling all for so many classes would
// take long: more where crowded pods make machines small and options matter more.
func (s *search) sample(places []int, classes int, random *rand.Rand) []int {
	want := max(fewestPlaces, mostFillings/max(classes, 1))
	if !s.fill.pace.idle {
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
func (s *search) takeApart(nodes []model.Node, picked []int, remaining []int64, b *budget) (cost, count int64) {
	for _, at := range picked {
		node := &nodes[at]
		cost += s.p.Options[node.Option].Cost
		count++
		b.spend(&s.p.Options[node.Option], -1)
		for _, it := range node.Items {
			remaining[it.Class] += it.N
		}
	}
	return cost, count
}

// unite looks for one machine that holds all that the picked ones held and costs
// no more than they did; with a single one picked, for a cheaper type.
func (s *search) unite(m *market, nodes []model.Node, picked []int, remaining []int64, cost int64, b *budget) []model.Node {
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
	for _, at := range m.byCost {
		option := &s.p.Options[m.options[at]]
		if option.Cost > cost {
			return nil
		}
		s.fill.work++
		if !model.Fits(option.Room, load) || !m.rows[m.row[at]].Contains(groups) || b.affords(option, 1) == 0 {
			continue
		}
		ok, looked := s.p.MeetsFloor(option, groups, load, items)
		if s.fill.work += looked; !ok {
			continue
		}
		b.spend(option, 1)
		clear(remaining)
		return []model.Node{{Option: m.options[at], N: 1, Items: items}}
	}
	return nil
}

// jitterCosts changes what options count for.
func (s *search) jitterCosts(m *market, places []int, random *rand.Rand) {
	width := [...]float64{0, 0, 0.15, 0.5}[random.IntN(4)]
	if width == 0 {
		return
	}
	for _, at := range places {
		o := m.options[at]
		s.fill.costs[o] = s.prices[o] * (1 + width*(2*random.Float64()-1))
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

// pickNear is pick among machines of which most stand in one row, so that they can
// take each other's pods.
func (s *search) pickNear(m *market, nodes []model.Node, random *rand.Rand) []int {
	picked := pick(random, len(nodes))
	if len(m.rows) == 1 || len(picked) < 2 || random.IntN(3) == 0 {
		return picked
	}
	row := m.rowOf[nodes[picked[random.IntN(len(picked))]].Option]
	near := picked[:0]
	for _, at := range picked {
		// The next in line that stands in the row, not too far off.
		for next := at; next < min(len(nodes), at+8*len(m.rows)); next++ {
			if m.rowOf[nodes[next].Option] == row && !slices.Contains(near, next) {
				near = append(near, next)
				break
			}
		}
	}
	slices.Sort(near)
	return near
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
