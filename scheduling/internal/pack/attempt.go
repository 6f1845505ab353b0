package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// attempt is one complete answer: what is bought in each pass, what the bins hold,
// what found no place.
type attempt struct {
	bought   [][]model.Node // by pass
	bins     *greedy.Bins
	unplaced []int64
	budget   *greedy.Budget
	cost     int64
	nodes    int64
	placed   []int64 // by priority level, highest first
}

// better reports whether a beats b: more pods of the highest priority that
// differs, then a lower cost, then fewer machines.
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

// earlier reports whether a places more pods than b, or as many of them in earlier
// passes and more in some.
func (a *attempt) earlier(b *attempt) bool {
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

// clone returns an attempt that shares nothing that changes with a.
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

// evaluate computes what an attempt is judged by.
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

// levelOf is the place of a priority among the levels.
func levelOf(levels []int32, priority int32) int {
	at, _ := slices.BinarySearchFunc(levels, priority, func(have, want int32) int { return cmp.Compare(want, have) })
	return at
}

func (s *search) level(c int) int { return levelOf(s.levels, s.p.Classes[c].Priority) }

// priorities are the priorities that occur, highest first.
func priorities(p *model.Problem) []int32 {
	var out []int32
	for c := range p.Classes {
		out = append(out, p.Classes[c].Priority)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

// try makes an attempt with the given worths. With byPriority, pods of a higher
// priority are placed before any of a lower one is looked at; without, all are
// packed together, which is cheaper and right whenever there is enough for all.
func (s *search) try(values []float64, byPriority bool) *attempt {
	p := s.p
	s.order, s.worths = nil, values
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

// round places remaining pods: onto the bins, onto what was bought in earlier
// rounds, then onto new machines pass by pass.
func (s *search) round(a *attempt, remaining []int64, values []float64) {
	if len(s.every) > 0 {
		if s.snug {
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
		a.bought[i] = append(a.bought[i], s.fill.Buy(m, m.All, s.fill.Those(remaining), remaining, values, a.budget)...)
	}
}

// joinEarlier adds pods that have to put up with a taint in a pass to machines of the same
// weight that earlier passes bought: there they cost nothing.
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
