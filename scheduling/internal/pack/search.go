package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Params says how hard to search.
type Params struct {
	// Work bounds the search after the first complete answer, counted in classes
	// looked at; a little is done in any case.
	Work int64
	// Late reports that the caller's deadline has passed; nil is never.
	Late func() bool
	// Enough is a cost at which to be content where pods under per-node limits make for a long search:
	// one that has found a place for all pods at no more than this ends. 0 is none.
	Enough int64
	// Brief ends with the first complete answer: nothing is improved, and pods that it leaves out are
	// not tried again. Its machines may cost a few percent more than those of a search without Work.
	Brief bool
	// Snug fills bins one by one at first: less of their room is left, and other pods may be
	// in it than without.
	Snug bool
	// Worths are what pods are worth at first, by class, in the unit of costs; nil for the
	// prices of their shares of the cheapest machines.
	Worths []float64
}

// Outcome is an answer and how the search ended.
type Outcome struct {
	Solution model.Solution
	// Late says that the deadline cut the search short.
	Late bool
	// Work is how much of it was done.
	Work int64
}

// Search places the pods of p. The answer is complete whatever the parameters.
//
// Of many running machines it looks at those only that the pods could need, see [greedy.Useful].
func Search(p *model.Problem, params Params) Outcome {
	kept := greedy.Useful(p)
	if len(kept) == len(p.Bins) {
		return searchIn(p, params)
	}
	out := searchIn(onBins(p, kept), params)
	out.Solution.Bins = onAllBins(out.Solution.Bins, kept, len(p.Bins))
	return out
}

// onBins is a problem with some of the bins only.
func onBins(p *model.Problem, kept []int) *model.Problem {
	less := *p
	less.Rooms, less.Open, less.Bins = nil, nil, make([]model.Bin, len(kept))
	for at, i := range kept {
		less.Bins[at] = p.Bins[i]
	}
	return &less
}

// onAllBins is what some of the bins hold in terms of all of them.
func onAllBins(held [][]model.Item, kept []int, bins int) [][]model.Item {
	all := make([][]model.Item, bins)
	for at, i := range kept {
		all[i] = held[at]
	}
	return all
}

// search is the state of one call of Search.
type search struct {
	p        *model.Problem
	params   Params
	fill     *greedy.Filler
	levels   []int32
	every    []int           // all bins
	order    []model.ClassID // in which classes are offered to machines that exist; nil until asked
	worths   []float64       // by which that is
	jittered []float64
	held     []int            // scratch of holding
	classes  []model.ClassID  // those that a change concerns
	sizes    []float64        // of overloadRepair: by class and resource, what a pod asks for, in pods of the usual size
	prices   []float64        // costs of options as they are
	markets  []*greedy.Market // by pass
	budget   int64            // of work
	start    int64            // work that was done before it counts
	late     bool
	deep     bool       // more than the least work may be done
	random   *rand.Rand // of improvement
	snug     bool       // bins are filled one by one
}

// Whatever the budget, as much work is done as leastTimes that of the first answer, but no more than
// takes some five milliseconds or, where machines differ in whom they admit, leastDrafts times as
// much as that answer.
const leastTimes, leastMost, leastDrafts, leastTries = 20, 500_000, 2, 1_500_000

func newSearch(p *model.Problem, params Params) *search {
	s := &search{
		p: p, params: params, fill: greedy.NewFiller(p), levels: priorities(p),
		jittered: make([]float64, len(p.Classes)), sizes: make([]float64, len(p.Classes)*p.Dims),
	}
	s.prices, s.every = slices.Clone(s.fill.Costs), model.Every[int](len(p.Bins))
	s.snug = params.Snug && len(p.Bins) > 0
	s.random = rand.New(rand.NewPCG(0x706c696d, 0x736f6c6c))
	// Where not everything can be had, who gets it hangs on what is filled when.
	s.fill.Eager = s.p.Limited()
	for _, pass := range p.Passes {
		s.markets = append(s.markets, greedy.NewMarket(p, pass))
	}
	return s
}

// searchIn is Search that looks at everything.
func searchIn(p *model.Problem, params Params) Outcome {
	s := newSearch(p, params)
	var a *attempt
	if params.Brief {
		a = s.first()
	} else {
		a = s.complete(s.draft())
	}
	return Outcome{Solution: s.solution(a), Late: s.late, Work: s.fill.Work}
}

// over reports whether the search should end.
func (s *search) over() bool {
	return s.overdue() || s.fill.Work-s.start > s.budget
}

// overdue reports whether the deadline has passed.
func (s *search) overdue() bool {
	s.late = s.late || s.params.Late != nil && s.params.Late()
	return s.late
}

// reconsider uses what improvement has freed of limits and reservations: machines
// are exchanged for the cheapest that hold their pods, then pods that were left out
// or that ended in a later pass are offered to what is left.
func (s *search) reconsider(a *attempt, values []float64) *attempt {
	s.exchange(a)
	s.order, s.worths = nil, values
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
		if slices.Compare(again.placed, a.placed) < 0 || !again.earlier(a) {
			break
		}
		if !s.over() {
			s.improve(again, values, 1)
		}
		s.exchange(again)
		a = again
	}
	return a
}

// scarce reports whether pods were left out that some option could hold: limits or
// reservations bind, and priority must decide.
func (s *search) scarce(a *attempt, values []float64) bool {
	for c, n := range a.unplaced {
		if n > 0 && (values[c] > 0 || s.p.AnyBinTakes(model.ClassID(c))) {
			return true
		}
	}
	return false
}

// share looks for the attempt that places the most pods by priority when there is
// not enough for all: strictly by priority, counting what machines take of their
// pools' limits in place of their price, and giving way to those who were left out.
func (s *search) share(best *attempt, values []float64) *attempt {
	each := alike(values)
	until := s.fill.Work + max(4*leastMost, min(s.params.Work, 1<<60))
	for i, v := range [][]float64{values, each, each, values} {
		s.fill.Paced = i == 0 // else worths and costs do not compare
		if i == 2 {
			s.costByPenalties(s.newLimitPenalties())
		}
		if a := s.giveWay(v, until); a.better(best) {
			best = a
		}
	}
	s.costByPrice()
	return best
}

// alike are the worths of 1 for all that are worth anything.
func alike(values []float64) []float64 {
	each := make([]float64, len(values))
	for c, v := range values {
		if v > 0 {
			each[c] = 1
		}
	}
	return each
}

// giveWayRounds is how many attempts are made for those who were left out.
const giveWayRounds = 6

// giveWay makes attempts strictly by priority in which the classes that were left
// out before count for more, so that those who have one place only get it before
// those who have others. It ends when so much work is done.
func (s *search) giveWay(values []float64, until int64) *attempt {
	boosted := slices.Clone(values)
	best := s.try(boosted, true)
	for range giveWayRounds {
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

// inOrder is the order in which classes are offered to machines that exist.
func (s *search) inOrder() []model.ClassID {
	if s.order == nil {
		s.order = s.fill.BinOrder(model.Every[model.ClassID](len(s.p.Classes)), s.worths)
	}
	return s.order
}

// solution turns an attempt into the form that callers see.
func (s *search) solution(a *attempt) model.Solution {
	out := model.Solution{Bins: a.bins.Items, Unplaced: a.unplaced}
	for _, nodes := range a.bought {
		out.Nodes = append(out.Nodes, nodes...)
	}
	return out
}
