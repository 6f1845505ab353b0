package pack

import "slices"

// contentWork is the work from which on a search may be content with what it has: less
// takes next to no time.
const contentWork = 60_000

// content reports whether an answer is good enough for the search to end: some work was
// done, it leaves no pods out, and it costs no more than the caller says will do. Where
// nobody is crowded, machines in bulk come near at once, and better ones are worth while.
func (s *search) content(a *attempt) bool {
	return s.params.Enough > 0 && a.cost <= s.params.Enough && s.fill.work >= contentWork && !s.fill.pace.idle &&
		!slices.ContainsFunc(a.unplaced, func(n int64) bool { return n > 0 })
}

// wanted is what the machines of a pass may cost for an answer to be good enough; 0 or
// less is no such cost.
func (s *search) wanted(a *attempt, pass int) int64 {
	if s.params.Enough == 0 || s.fill.pace.idle || slices.ContainsFunc(a.unplaced, func(n int64) bool { return n > 0 }) {
		return 0
	}
	return s.params.Enough - a.cost + s.p.Cost(a.bought[pass])
}
