package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// attempt is one complete answer: the machines of each pass, the pods on existing nodes, and the pods without a
// place.
type attempt struct {
	bought   [][]model.Node // by pass
	bins     *greedy.Bins
	unplaced []int64 // by class
	budget   *greedy.Budget
	cost     int64   // of the machines, in the unit of the problem
	nodes    int64   // number of machines
	placed   []int64 // by priority level, highest first
}

// better reports whether a is better than b: more pods of the highest priority level that differs, then lower
// cost, then fewer machines. Every attempt is better than nil.
func (a *attempt) better(b *attempt) bool {
	if b == nil {
		return true
	}
	return cmp.Or(
		slices.Compare(b.placed, a.placed),
		cmp.Compare(a.cost, b.cost),
		cmp.Compare(a.nodes, b.nodes),
	) < 0
}

// placesEarlier reports whether a places more pods than b, or as many and more of them in the earliest pass
// that differs.
func (a *attempt) placesEarlier(b *attempt) bool {
	if c := slices.Compare(b.placed, a.placed); c != 0 {
		return c < 0
	}
	for i := range a.bought {
		if x, y := model.Pods(a.bought[i]), model.Pods(b.bought[i]); x != y {
			return x > y
		}
	}
	return false
}

// clone returns a deep copy.
func (a *attempt) clone() *attempt {
	c := &attempt{
		bins:     &greedy.Bins{},
		unplaced: slices.Clone(a.unplaced), budget: a.budget.Clone(), placed: slices.Clone(a.placed),
		cost: a.cost, nodes: a.nodes,
	}
	for _, nodes := range a.bought {
		c.bought = append(c.bought, cloneNodes(nodes))
	}
	for i := range a.bins.Room {
		c.bins.Room = append(c.bins.Room, slices.Clone(a.bins.Room[i]))
		c.bins.Items = append(c.bins.Items, slices.Clone(a.bins.Items[i]))
	}
	return c
}

func cloneNodes(nodes []model.Node) []model.Node {
	out := slices.Clone(nodes)
	for i := range out {
		out[i].Items = slices.Clone(out[i].Items)
	}
	return out
}

// evaluate computes cost, number of machines and placed pods by level.
func (a *attempt) evaluate(p *model.Problem, levels []int32) {
	a.cost, a.nodes = 0, 0
	for _, nodes := range a.bought {
		a.cost += p.Cost(nodes)
		a.nodes += model.Count(nodes)
	}
	a.placed = make([]int64, len(levels))
	for c := range p.Classes {
		a.placed[levelOf(levels, p.Classes[c].Priority)] += p.Classes[c].Count - a.unplaced[c]
	}
}

// levelOf returns the index of a priority among the levels.
func levelOf(levels []int32, priority int32) int {
	at, _ := slices.BinarySearchFunc(levels, priority, func(have, want int32) int { return cmp.Compare(want, have) })
	return at
}

func (s *search) level(c int) int { return levelOf(s.levels, s.p.Classes[c].Priority) }

// priorities returns the distinct priorities, highest first.
func priorities(p *model.Problem) []int32 {
	var out []int32
	for c := range p.Classes {
		out = append(out, p.Classes[c].Priority)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

// try constructs an attempt by class values. With byPriority, pods of a higher priority are placed before any
// pod of a lower one; without, all are packed together, which is faster and equally good where there is room
// for all.
func (s *search) try(values []float64, byPriority bool) *attempt {
	p := s.p
	s.order, s.orderValues = nil, values
	a := &attempt{
		bought:   make([][]model.Node, len(p.Passes)),
		bins:     greedy.NewBins(p),
		budget:   greedy.NewBudget(p),
		unplaced: make([]int64, len(p.Classes)),
	}
	for c := range p.Classes {
		a.unplaced[c] = p.Classes[c].Count
	}
	if !byPriority {
		s.round(a, a.unplaced, values)
	} else {
		now := make([]int64, len(p.Classes))
		for _, level := range s.levels {
			clear(now)
			for c := range p.Classes {
				if p.Classes[c].Priority == level {
					now[c] = a.unplaced[c]
				}
			}
			s.round(a, now, values)
			for c := range p.Classes {
				if p.Classes[c].Priority == level {
					a.unplaced[c] = now[c]
				}
			}
		}
	}
	a.evaluate(p, s.levels)
	return a
}

// round places remaining pods: on existing nodes, on machines of earlier rounds, then on new machines pass by
// pass.
func (s *search) round(a *attempt, remaining []int64, values []float64) {
	if len(s.every) > 0 {
		if s.binByBin {
			s.fill.FillBins(a.bins, remaining, values)
		}
		s.fill.PlaceOn(a.bins, s.every, s.inOrder(), remaining, nil)
	}
	for i := range s.p.Passes {
		if !model.AnyLeft(remaining) {
			return
		}
		s.joinEarlier(a, i, remaining)
		if len(a.bought[i]) > 0 {
			a.bought[i] = s.fill.TopUp(a.bought[i], s.markets[i], s.inOrder(), remaining)
		}
		m := s.markets[i]
		a.bought[i] = append(a.bought[i], s.fill.Buy(m, m.All, s.fill.Placeable(remaining), remaining, values, a.budget)...)
	}
}

// joinEarlier adds pods of a pass for machines with a PreferNoSchedule taint to machines that earlier passes of
// the same weight bought, because there they cost nothing.
func (s *search) joinEarlier(a *attempt, pass int, remaining []int64) {
	if !s.p.Passes[pass].Soft {
		return
	}
	for i := range pass {
		if len(a.bought[i]) > 0 && s.p.Passes[i].Weight == s.p.Passes[pass].Weight {
			a.bought[i] = s.fill.TopUp(a.bought[i], s.markets[pass], s.inOrder(), remaining)
		}
	}
}

// byLevel sums counts of classes by priority level.
func (s *search) byLevel(counts []int64) []int64 {
	out := make([]int64, len(s.levels))
	for c, n := range counts {
		out[s.level(c)] += n
	}
	return out
}

// attemptOf converts a solution to an attempt.
func (s *search) attemptOf(solution model.Solution) *attempt {
	a := &attempt{
		bought: make([][]model.Node, len(s.p.Passes)), bins: greedy.NewBins(s.p), budget: greedy.NewBudget(s.p),
		unplaced: slices.Clone(solution.Unplaced),
	}
	for i, items := range solution.Bins {
		load := make([]int64, s.p.Dims)
		s.p.Load(load, items)
		for d, n := range load {
			a.bins.Room[i][d] -= n
		}
		a.bins.Items[i] = slices.Clone(items)
	}
	for i := range solution.Nodes {
		node := &solution.Nodes[i]
		a.budget.Spend(&s.p.Options[node.Option], node.N)
		pass := passOf(s.p, s.markets, node)
		a.bought[pass] = append(a.bought[pass], model.Node{Option: node.Option, N: node.N, Items: slices.Clone(node.Items)})
	}
	a.evaluate(s.p, s.levels)
	return a
}

// passOf returns the first pass whose market admits some pod of a machine.
func passOf(p *model.Problem, markets []*greedy.Market, node *model.Node) int {
	return max(0, slices.IndexFunc(markets, func(m *greedy.Market) bool {
		row := m.RowOf[node.Option]
		return row >= 0 && slices.ContainsFunc(node.Items, func(it model.Item) bool {
			return m.Rows[row].Has(int(p.Classes[it.Class].Group))
		})
	}))
}
