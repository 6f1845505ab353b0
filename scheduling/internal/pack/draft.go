package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/columns"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// draft is the answer of the construction phase.
type draft struct {
	best   *attempt
	values []float64 // class values that it was made with
	work   int64     // of the first answer
}

// unpacedMore is a ratio of machines to the fewest that per-node limits allow. Above it another answer is
// constructed without pacing, which takes long where all machines are small.
const unpacedMore = 1.1

// corrections is the number of answers with corrected values. correction is the step towards real costs, from 0
// to 1.
const corrections, correction = 12, 0.8

// first returns the answer of [Params.Brief].
func (s *search) first() *attempt {
	values := s.params.ClassValues
	if values == nil {
		values = s.fill.ShareValues()
	}
	return s.withoutBinByBin(s.try(values, false), values)
}

// draft constructs an answer: by the given values, by priority where limits bind, and with corrected values
// where per-node limits decide the number of machines.
func (s *search) draft() draft {
	values := s.params.ClassValues
	if values == nil {
		values = s.fill.ShareValues()
	} else {
		s.fill.Paced = false
	}
	best := s.withoutBinByBin(s.try(values, false), values)
	first := s.fill.Work
	if s.limitsBind(best, values) {
		best = s.placeByPriority(best, values)
	}
	if s.fill.NodeLimits {
		s.setBudget(min(leastTimes*first, leastTries))
		paced := s.corrected(best, values, true)
		if float64(best.nodes) >= unpacedMore*s.fill.FewestNodes {
			s.setBudget(s.budget)
			if a := s.corrected(nil, values, false); a.better(paced) {
				paced = a
			}
		}
		best = paced
	}
	return draft{best, values, first}
}

// withoutBinByBin tries again with bins that are filled class by class, where filling them one by one left pods
// out or machines had to be bought. It returns the better attempt; later attempts fill bins in its way.
func (s *search) withoutBinByBin(best *attempt, values []float64) *attempt {
	if !s.binByBin || best.cost == 0 && !model.AnyLeft(best.unplaced) {
		return best
	}
	s.binByBin = false
	if a := s.try(values, false); a.better(best) {
		return a
	}
	s.binByBin = true
	return best
}

// deepTimes is the least work of a deep search, in multiples of the first answer's work.
const deepTimes = 4

// corrected returns the best of several attempts, each with the values that the last one corrected (sequential
// value correction), with or without pacing. best is nil where there is no attempt yet.
func (s *search) corrected(best *attempt, values []float64, paced bool) *attempt {
	s.fill.Paced = paced
	defer func() { s.fill.Paced = true }()
	last := best
	for i := 0; last == nil || i < corrections && !s.over() && !s.goodEnough(best) && last.cost > 0; i++ {
		if last != nil {
			values = correctValues(s.p, last, values, correction)
		}
		if last = s.try(values, false); last.better(best) {
			best = last
		}
	}
	return best
}

// complete improves a draft: with the least work first, then with the caller's work from there on.
func (s *search) complete(d draft) *attempt {
	best := d.best
	if len(s.p.Classes) == 0 {
		return best
	}
	if s.p.Limited() {
		s.downsize(best)
	}
	s.setBudget(s.least(d.work))
	best = s.refine(best, d.values)
	if s.params.Work > 0 && (!s.goodEnough(best) || s.p.Limited()) {
		s.lns.deep = true
		s.setBudget(max(s.params.Work, deepTimes*d.work))
		best = s.refine(s.byColumns(best, s.params.Work/2), d.values)
	}
	mergeTiers(s, best, d.values)
	return best
}

// byColumns improves an attempt by column generation over all pods of a pass, with half of the work, and by lns
// after it. It returns the better attempt. Limits, reservations and minValues floors are not rows of its linear
// program, so with them, and with pods left out, it returns best.
func (s *search) byColumns(best *attempt, work int64) *attempt {
	if len(s.p.Floors) > 0 || s.p.Limited() || model.AnyLeft(best.unplaced) {
		return best
	}
	var seen [][]model.Item
	defer func() { s.patterns = seen }()
	for pass := range s.p.Passes {
		if len(best.bought[pass]) == 0 || s.over() {
			continue
		}
		x := columns.New(s.p, s.fill, s.markets[pass], best.bought[pass], s.patterns, work, s.overdue)
		if x == nil {
			continue
		}
		nodes := x.Dive(columns.Rounds)
		seen = append(seen, x.Seen...)
		if nodes == nil {
			continue
		}
		a := best.clone()
		a.bought[pass] = nodes
		if s.improve(a, x.First, pass); a.better(best) {
			best = a
		}
	}
	return best
}

// Improve looks for cheaper machines for the pods on the machines of an answer, by column generation and the
// phases after it. It returns the answer unchanged where it finds none, where pods are left out, and where
// limits or reservations apply.
func Improve(p *model.Problem, at Outcome, params Params) Outcome {
	if at.Late || model.AnyLeft(at.Solution.Unplaced) {
		return at
	}
	s := newSearch(p, params)
	if s.p.Limited() {
		return at
	}
	values := params.ClassValues
	if values == nil {
		values = s.fill.ShareValues()
	}
	s.patterns = append(slices.Clone(params.Patterns), at.Patterns...)
	best := s.attemptOf(at.Solution)
	if s.goodEnough(best) {
		return at
	}
	s.lns.deep = true
	s.setBudget(params.Work)
	best = s.refine(s.byColumns(best, params.Work/2), values)
	mergeTiers(s, best, values)
	at.Solution, at.Patterns, at.Late, at.Work = s.solution(best), s.patterns, s.late, at.Work+s.fill.Work
	return at
}

// least returns the work that every search may do after the first answer: more where machines differ in the
// pods that they admit.
func (s *search) least(first int64) int64 {
	most := int64(leastMost)
	if !s.fill.NodeLimits && slices.ContainsFunc(s.markets, func(m *greedy.Market) bool { return len(m.Rows) > 1 }) {
		most = max(most, leastDrafts*first)
	}
	return min(leastTimes*first, most)
}

// setBudget allows this much work from now on.
func (s *search) setBudget(work int64) { s.start, s.budget = s.fill.Work, work }

// refine improves an attempt within the budget.
func (s *search) refine(best *attempt, values []float64) *attempt {
	if s.goodEnough(best) && !s.p.Limited() {
		return best
	}
	if best.cost > 0 && !s.over() {
		s.improve(best, values, 0)
	}
	if (len(s.p.Bins) > 0 && best.cost > 0 || s.limitsBind(best, values)) && !s.over() {
		s.improveBins(best, values)
	}
	if s.p.Limited() {
		best = s.reuseFreed(best, values)
	}
	return best
}
