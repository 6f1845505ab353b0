package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Params bounds a search.
type Params struct {
	// Work bounds the search after the first complete answer, in classes looked at; a little is done in any
	// case.
	Work int64
	// Late reports whether the caller's deadline has passed; nil for no deadline.
	Late func() bool
	// Enough is a cost at which the search ends if all pods have a place and per-node limits apply, which make
	// it long. 0 for none.
	Enough int64
	// Brief returns the first complete answer: it is not improved, and pods without a place are not tried
	// again. Its machines may cost a few percent more than with Work 0.
	Brief bool
	// Snug fills bins one by one at first: less of their room is left, and other pods may be on them.
	Snug bool
	// ClassValues are the values of pods in the first answer, by class, in the unit of costs; nil for the prices of
	// their shares of the cheapest machines.
	ClassValues []float64
	// Patterns are pods that some machine is known to hold, with which column generation begins; nil for none.
	Patterns [][]model.Item
}

// Outcome is an answer and how the search ended.
type Outcome struct {
	Solution model.Solution
	// Patterns are the pods on machines that column generation knows besides those of the solution: the optimum of its
	// linear program is a mix of them.
	Patterns [][]model.Item
	// Late says that the deadline cut the search short.
	Late bool
	// Work is the work done, in the same unit.
	Work int64
}

// Search places the pods of p. The answer is complete for all parameters: every pod has a place or is counted
// as unplaced.
//
// Of many bins only those are considered that the pods could need, see [greedy.Useful].
func Search(p *model.Problem, params Params) Outcome {
	kept := greedy.Useful(p)
	if len(kept) == len(p.Bins) {
		return searchIn(p, params)
	}
	out := searchIn(onBins(p, kept), params)
	out.Solution.Bins = onAllBins(out.Solution.Bins, kept, len(p.Bins))
	return out
}

// onBins returns the problem with some of its bins.
func onBins(p *model.Problem, kept []int) *model.Problem {
	less := *p
	less.Rooms, less.Open, less.Bins = nil, nil, make([]model.Bin, len(kept))
	for at, i := range kept {
		less.Bins[at] = p.Bins[i]
	}
	return &less
}

// onAllBins converts the contents of some bins to indexes of all bins.
func onAllBins(held [][]model.Item, kept []int, bins int) [][]model.Item {
	all := make([][]model.Item, bins)
	for at, i := range kept {
		all[i] = held[at]
	}
	return all
}

// search is the state of one call of Search.
type search struct {
	p           *model.Problem
	params      Params
	fill        *greedy.Filler
	levels      []int32
	every       []int            // all bins
	order       []model.ClassID  // order of classes for existing nodes and machines; nil until needed
	orderValues []float64        // class values of that order
	lns         *lns             // on the machines of one pass
	markets     []*greedy.Market // by pass
	budget      int64            // of work
	start       int64            // work that was done before the budget
	patterns    [][]model.Item   // that column generation has found
	late        bool
	random      *rand.Rand // of improve
	binByBin    bool       // bins are filled one by one
}

// Every search may do leastTimes the work of its first answer, but at most leastMost, some five milliseconds,
// or leastDrafts times the first answer where machines differ in the pods that they admit. leastTries bounds
// value correction.
const leastTimes, leastMost, leastDrafts, leastTries = 20, 500_000, 2, 1_500_000

func newSearch(p *model.Problem, params Params) *search {
	s := &search{p: p, params: params, fill: greedy.NewFiller(p), levels: priorities(p), every: model.Every[int](len(p.Bins))}
	s.lns = &lns{
		p: p, fill: s.fill, prices: slices.Clone(s.fill.Costs), overdue: s.overdue,
		jittered: make([]float64, len(p.Classes)), sizes: make([]float64, len(p.Classes)*p.Dims),
	}
	s.binByBin = params.Snug && len(p.Bins) > 0
	s.random = rand.New(rand.NewPCG(0x706c696d, 0x736f6c6c))
	// Where limits bind, the order of fillings decides which pods are left out.
	s.fill.Eager = s.p.Limited()
	for _, pass := range p.Passes {
		s.markets = append(s.markets, greedy.NewMarket(p, pass))
	}
	return s
}

// searchIn is Search with all bins of p.
func searchIn(p *model.Problem, params Params) Outcome {
	s := newSearch(p, params)
	var a *attempt
	if params.Brief {
		a = s.first()
	} else {
		a = s.complete(s.draft())
	}
	return Outcome{Solution: s.solution(a), Patterns: s.patterns, Late: s.late, Work: s.fill.Work}
}

// over reports whether the budget is used up or the deadline has passed.
func (s *search) over() bool {
	return s.overdue() || s.fill.Work-s.start > s.budget
}

// overdue reports whether the deadline has passed.
func (s *search) overdue() bool {
	s.late = s.late || s.params.Late != nil && s.params.Late()
	return s.late
}

// reuseFreed uses limits and reservations that improvement has freed: machines are replaced by the cheapest
// option that holds their pods, then pods that are left out or placed in a later pass are placed again.
func (s *search) reuseFreed(a *attempt, values []float64) *attempt {
	s.downsize(a)
	s.order, s.orderValues = nil, values
	for range s.p.Passes {
		again := a.clone()
		remaining := again.unplaced
		moved := false
		for i := 1; i < len(again.bought); i++ {
			for j := range again.bought[i] {
				node := &again.bought[i][j]
				again.budget.Spend(&s.p.Options[node.Option], -node.N)
				for _, it := range node.Items {
					remaining[it.Class] += it.N * node.N
				}
				moved = true
			}
			again.bought[i] = nil
		}
		if !moved && !model.AnyLeft(remaining) {
			break
		}
		s.round(again, remaining, values)
		again.evaluate(s.p, s.levels)
		if slices.Compare(again.placed, a.placed) < 0 || !again.placesEarlier(a) {
			break
		}
		if !s.over() {
			s.improve(again, values, 1)
		}
		s.downsize(again)
		a = again
	}
	return a
}

// limitsBind reports whether pods are left out that some option could hold: limits or reservations bind, and
// priority must decide.
func (s *search) limitsBind(a *attempt, values []float64) bool {
	for c, n := range a.unplaced {
		if n > 0 && (values[c] > 0 || s.p.AnyBinTakes(model.ClassID(c))) {
			return true
		}
	}
	return false
}

// placeByPriority returns the attempt that places the most pods by priority: strictly by priority, once by
// price and once by use of limits, with higher values for the pods that were left out before.
func (s *search) placeByPriority(best *attempt, values []float64) *attempt {
	each := unitValues(values)
	until := s.fill.Work + max(4*leastMost, min(s.params.Work, 1<<60))
	for i, v := range [][]float64{values, each, each, values} {
		s.fill.Paced = i == 0 // otherwise values and costs have different units
		if i == 2 {
			newLimitPenalties(s.p).setCosts(s.lns)
		}
		if a := s.boostUnplaced(v, until); a.better(best) {
			best = a
		}
	}
	s.lns.costByPrice()
	return best
}

// unitValues returns the value 1 for each class with a positive value, and 0 for the rest.
func unitValues(values []float64) []float64 {
	each := make([]float64, len(values))
	for c, v := range values {
		if v > 0 {
			each[c] = 1
		}
	}
	return each
}

// boostRounds is the number of attempts with boosted values.
const boostRounds = 6

// boostUnplaced makes attempts strictly by priority in which classes that were left out before have higher
// values, because pods with only one possible place must come before pods with several. It ends when the work
// exceeds until.
func (s *search) boostUnplaced(values []float64, until int64) *attempt {
	boosted := slices.Clone(values)
	best := s.try(boosted, true)
	for range boostRounds {
		left := false
		for c, n := range best.unplaced {
			if n > 0 && boosted[c] > 0 {
				boosted[c] *= 16
				left = true
			}
		}
		if !left || s.fill.Work > until {
			break
		}
		if a := s.try(boosted, true); a.better(best) {
			best = a
		}
	}
	return best
}

// inOrder returns the order in which classes are offered to existing nodes and machines.
func (s *search) inOrder() []model.ClassID {
	if s.order == nil {
		s.order = s.fill.BinOrder(model.Every[model.ClassID](len(s.p.Classes)), s.orderValues)
	}
	return s.order
}

// solution converts an attempt to the form of the result.
func (s *search) solution(a *attempt) model.Solution {
	out := model.Solution{Bins: a.bins.Items, Unplaced: a.unplaced}
	for _, nodes := range a.bought {
		out.Nodes = append(out.Nodes, nodes...)
	}
	return out
}

// goodEnough reports whether an attempt ends the search: no pod is left out, and its cost is at most
// [Params.Enough]. Without per-node limits a better one is found quickly, so the search goes on.
func (s *search) goodEnough(a *attempt) bool {
	return a.cost <= s.params.Enough && s.fill.NodeLimits && !model.AnyLeft(a.unplaced)
}

// targetCost returns the cost of a pass's machines at which the attempt is good enough; 0 or less for none.
func (s *search) targetCost(a *attempt, pass int) int64 {
	if s.params.Enough == 0 || !s.fill.NodeLimits || model.AnyLeft(a.unplaced) {
		return 0
	}
	return s.params.Enough - a.cost + s.p.Cost(a.bought[pass])
}
