package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/columns"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// draft is what was constructed.
type draft struct {
	best   *attempt
	values []float64 // by which it was made
	work   int64     // that the first answer took
}

// unpacedMore is how many times the machines that pods under per-node limits need an answer must have for
// another to be made without the pace: that takes long where all machines are small.
const unpacedMore = 1.1

// corrections is how many answers are made with corrected worths, and correction how far these move
// to what classes really cost.
const corrections, correction = 12, 0.8

// first is the answer of [Params.Brief].
func (s *search) first() *attempt {
	values := s.params.Worths
	if values == nil {
		values = s.fill.ShareValues()
	}
	return s.loosely(s.try(values, false), values)
}

// draft constructs an answer.
func (s *search) draft() draft {
	values := s.params.Worths
	if values == nil {
		values = s.fill.ShareValues()
	} else {
		s.fill.Paced = false
	}
	best := s.loosely(s.try(values, false), values)
	first := s.fill.Work
	if s.scarce(best, values) {
		best = s.share(best, values)
	}
	if s.fill.NodeLimits {
		s.allow(min(leastTimes*first, leastTries))
		paced := s.corrected(best, values, true)
		if float64(best.nodes) >= unpacedMore*s.fill.FewestNodes {
			s.allow(s.budget)
			if a := s.corrected(nil, values, false); a.better(paced) {
				paced = a
			}
		}
		best = paced
	}
	return draft{best, values, first}
}

// loosely begins once more, with bins that are filled class by class, where filling them one
// by one left pods out or machines had to be bought. It returns the better of both, and
// attempts that follow fill bins as it does.
func (s *search) loosely(best *attempt, values []float64) *attempt {
	if !s.snug || best.cost == 0 && !model.AnyLeft(best.unplaced) {
		return best
	}
	s.snug = false
	if a := s.try(values, false); a.better(best) {
		return a
	}
	s.snug = true
	return best
}

// deepTimes is how many times the work of the first answer more effort is at least.
const deepTimes = 4

// corrected is the best of some answers, each with the worths that the last one has corrected
// (sequential value correction), with or without the pace. nil is no answer to begin with.
func (s *search) corrected(best *attempt, values []float64, paced bool) *attempt {
	s.fill.Paced = paced
	defer func() { s.fill.Paced = true }()
	last := best
	for i := 0; last == nil || i < corrections && !s.over() && !s.content(best) && last.cost > 0; i++ {
		if last != nil {
			values = correct(s.p, last, values, correction)
		}
		if last = s.try(values, false); last.better(best) {
			best = last
		}
	}
	return best
}

// complete ends a search that has made a draft: the least work first, and what more there is from
// where that ended.
func (s *search) complete(d draft) *attempt {
	best := d.best
	if len(s.p.Classes) == 0 {
		return best
	}
	if s.p.Limited() {
		s.exchange(best)
	}
	s.allow(s.least(d.work))
	best = s.refine(best, d.values)
	if s.params.Work > 0 && (!s.content(best) || s.p.Limited()) {
		s.deep = true
		s.allow(max(s.params.Work, deepTimes*d.work))
		best = s.refine(s.mixed(best, s.params.Work/2), d.values)
	}
	s.joinPasses(best, d.values)
	return best
}

// mixed is the better of an attempt and of one that mixes fillings, for which so much work may be
// done, and which is improved then. It changes nothing where limits, reservations or floors are in
// the way, or pods are left out.
func (s *search) mixed(best *attempt, work int64) *attempt {
	if len(s.p.Floors) > 0 || s.p.Limited() || model.AnyLeft(best.unplaced) {
		return best
	}
	for pass := range s.p.Passes {
		if len(best.bought[pass]) == 0 || s.over() {
			continue
		}
		x := columns.New(s.p, s.fill, s.markets[pass], best.bought[pass], work, s.overdue)
		if x == nil {
			continue
		}
		nodes := x.Dive(columns.Rounds)
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

// Improve looks for cheaper machines for the pods of those that an answer buys, by column
// generation and what follows on it in a search, and returns the answer where it finds none.
func Improve(p *model.Problem, at Outcome, params Params) Outcome {
	if at.Late || model.AnyLeft(at.Solution.Unplaced) {
		return at
	}
	s := newSearch(p, params)
	if s.p.Limited() {
		return at
	}
	values := params.Worths
	if values == nil {
		values = s.fill.ShareValues()
	}
	best := s.attemptOf(at.Solution)
	if s.content(best) {
		return at
	}
	s.deep = true
	s.allow(params.Work)
	best = s.refine(s.mixed(best, params.Work/2), values)
	at.Solution, at.Late, at.Work = s.solution(best), s.late, at.Work+s.fill.Work
	return at
}

// least is how much work is done on a first answer in any case: more where not all machines admit
// the same pods.
func (s *search) least(first int64) int64 {
	most := int64(leastMost)
	if !s.fill.NodeLimits && slices.ContainsFunc(s.markets, func(m *greedy.Market) bool { return len(m.Rows) > 1 }) {
		most = max(most, leastDrafts*first)
	}
	return min(leastTimes*first, most)
}

// allow lets so much work be done from here on.
func (s *search) allow(work int64) { s.start, s.budget = s.fill.Work, work }

// refine improves an attempt, as long as there is work to do.
func (s *search) refine(best *attempt, values []float64) *attempt {
	if s.content(best) && !s.p.Limited() {
		return best
	}
	if best.cost > 0 && !s.over() {
		s.improve(best, values, 0)
	}
	if (len(s.p.Bins) > 0 && best.cost > 0 || s.scarce(best, values)) && !s.over() {
		s.improveBins(best, values)
	}
	if s.p.Limited() {
		best = s.reconsider(best, values)
	}
	return best
}
