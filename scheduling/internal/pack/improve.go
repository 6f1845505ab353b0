package pack

import (
	"cmp"
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
	for i, pass := range s.p.Passes {
		if i < from || len(a.bought[i]) == 0 {
			continue
		}
		nodes := unbundle(a.bought[i])
		s.improvePass(newStage(s.p, pass, s.held(nodes)), &nodes, values, a.budget, random)
		a.bought[i] = nodes
	}
	a.settle(s.p, s.levels)
}

// held counts the pods on machines by class.
func (s *search) held(nodes []model.Node) []int64 {
	counts := make([]int64, len(s.p.Classes))
	for i := range nodes {
		for _, it := range nodes[i].Items {
			counts[it.Class] += it.N * nodes[i].N
		}
	}
	return counts
}

// exchange replaces every machine by the cheapest option that holds its pods.
func (s *search) exchange(a *attempt) {
	for i, pass := range s.p.Passes {
		if len(a.bought[i]) == 0 {
			continue
		}
		nodes := unbundle(a.bought[i])
		st := newStage(s.p, pass, s.held(nodes))
		st.sortByCost(s.p)
		remaining := make([]int64, len(s.p.Classes))
		for at := range nodes {
			picked := []int{at}
			cost, _ := s.takeApart(nodes, picked, remaining, a.budget)
			if fresh := s.unite(st, nodes, picked, remaining, cost, a.budget); fresh != nil {
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

// improvePass works on the machines of one pass.
func (s *search) improvePass(st *stage, nodes *[]model.Node, values []float64, b *budget, random *rand.Rand) {
	s.sortByWorth(*nodes, values)
	st.sortByCost(s.p)
	remaining := make([]int64, len(s.p.Classes))
	vain := 0
	for vain < 60+4*len(*nodes) && !s.over() {
		picked := pick(random, len(*nodes))
		cost, count := s.takeApart(*nodes, picked, remaining, b)
		var fresh []model.Node
		if random.IntN(3) == 0 {
			fresh = s.unite(st, *nodes, picked, remaining, cost, b)
		} else {
			s.jitterCosts(st, random)
			fresh = s.fill.construct(s.narrow(st, remaining), remaining, s.jitter(values, random), b)
			copy(s.fill.costs, s.prices)
		}
		freshCost, freshCount := s.p.Cost(fresh), model.Count(fresh)
		left := slices.ContainsFunc(remaining, func(n int64) bool { return n > 0 })
		if left || freshCost > cost || (freshCost == cost && freshCount >= count) {
			for i := range fresh {
				b.spend(&s.p.Options[fresh[i].Option], -fresh[i].N)
			}
			for _, at := range picked {
				b.spend(&s.p.Options[(*nodes)[at].Option], 1)
			}
			clear(remaining)
			vain++
			continue
		}
		vain = 0
		for i := len(picked) - 1; i >= 0; i-- {
			*nodes = slices.Delete(*nodes, picked[i], picked[i]+1)
		}
		*nodes = append(*nodes, unbundle(fresh)...)
		s.sortByWorth(*nodes, values)
		if len(*nodes) == 0 {
			return
		}
	}
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
func (s *search) unite(st *stage, nodes []model.Node, picked []int, remaining []int64, cost int64, b *budget) []model.Node {
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
	for _, at := range st.byCost {
		option := &s.p.Options[st.options[at]]
		if option.Cost > cost {
			return nil
		}
		s.fill.work++
		if !model.Fits(option.Room, load) || !s.rightHere(option, st, groups) || b.affords(option, 1) == 0 ||
			!s.p.MeetsFloor(option, groups, load, items) {
			continue
		}
		b.spend(option, 1)
		clear(remaining)
		return []model.Node{{Option: st.options[at], N: 1, Items: items}}
	}
	return nil
}

// rightHere reports whether the groups may use an option at the rank of the stage.
func (s *search) rightHere(option *model.Option, st *stage, groups model.Bits) bool {
	if !option.Admits.Contains(groups) {
		return false
	}
	for w, word := range groups {
		avoid := option.Soft[w] & word
		if st.soft && avoid != word || !st.soft && avoid != 0 {
			return false
		}
	}
	return true
}

// jitterCosts changes what options count for, so that others come out first.
func (s *search) jitterCosts(st *stage, random *rand.Rand) {
	width := [...]float64{0, 0, 0.15, 0.5}[random.IntN(4)]
	if width == 0 {
		return
	}
	for _, o := range st.options {
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

// jitter changes every worth by up to a few percent, so that the same machines can
// come out packed differently.
func (s *search) jitter(values []float64, random *rand.Rand) []float64 {
	width := [...]float64{0, 0.03, 0.1, 0.3}[random.IntN(4)]
	for c, v := range values {
		s.jittered[c] = v
		if width > 0 && s.involved[c] {
			s.jittered[c] = v * (1 + width*(2*random.Float64()-1))
		}
	}
	return s.jittered
}

// narrow is the stage restricted to the classes that have pods remaining.
func (s *search) narrow(st *stage, remaining []int64) *stage {
	for c := range remaining {
		s.involved[c] = remaining[c] > 0
	}
	out := &stage{}
	var all []model.ClassID
	for at, o := range st.options {
		from := len(all)
		for _, c := range st.candidates[at] {
			if s.involved[c] {
				all = append(all, c)
			}
		}
		if len(all) > from {
			out.options = append(out.options, o)
			out.candidates = append(out.candidates, all[from:len(all):len(all)])
		}
	}
	return out
}

// sortByWorth orders machines by the worth they hold per price, lowest first.
func (s *search) sortByWorth(nodes []model.Node, values []float64) {
	rate := func(n *model.Node) float64 {
		worth := 0.0
		for _, it := range n.Items {
			worth += values[it.Class] * float64(it.N)
		}
		return worth / float64(max(s.p.Options[n.Option].Cost, 1))
	}
	slices.SortStableFunc(nodes, func(x, y model.Node) int { return cmp.Compare(rate(&x), rate(&y)) })
}
