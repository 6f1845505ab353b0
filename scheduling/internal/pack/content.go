package pack

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// content reports whether an answer is good enough for the search to end: it leaves no pods out,
// and costs no more than the caller says will do. Where nobody is crowded better ones are worth while.
func (s *search) content(a *attempt) bool {
	return a.cost <= s.params.Enough && s.fill.NodeLimits && !model.AnyLeft(a.unplaced)
}

// wanted is what the machines of a pass may cost for an answer to be good enough; 0 or
// less is no such cost.
func (s *search) wanted(a *attempt, pass int) int64 {
	if s.params.Enough == 0 || !s.fill.NodeLimits || model.AnyLeft(a.unplaced) {
		return 0
	}
	return s.params.Enough - a.cost + s.p.Cost(a.bought[pass])
}
