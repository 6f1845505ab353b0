package topology

import (
	"cmp"
	"slices"
)

// The work that goes into planning again, in pods and sites that are gone through: a
// multiple of the work of planning once for each cluster, and some more for all of them
// together.
const (
	effortMore = 3
	effort     = 100_000
	idle       = 24 // attempts in a row without success, then it is given up
)

// repair drops pods that would not bind, and plans classes again that have unplaced
// pods because of rules, with all classes to which rules tie them. It does so too if
// pods bind only as long as they come in the right order.
func (s *planner) repair(order []int32) {
	rank := make([]int32, len(order))
	for at, c := range order {
		rank[c] = int32(at)
	}
	spare := int64(effort)
	for _, cl := range clusters(s.plan.tables) {
		lost := s.dropUnbindable(cl)
		risk, stuck := s.certifier.risk(cl), s.plan.stuck(cl)
		if lost || stuck || risk.doubt > 0 {
			own := effortMore * cl.work()
			spare -= max(0, s.retry(cl, rank, own+spare, s.plan.save(cl, risk, stuck))-own)
		}
		if s.plan.p.Proofs > 0 && !s.plan.p.outOfTime() && cl.priced() {
			s.reassigner.reassign(cl)
		}
	}
}

// dropUnbindable drops pods of a cluster that would not bind, and reports whether there were
// any. Pods have to bind whether or not the domains that stay empty exist, and to meet
// their affinities in any order.
func (s *planner) dropUnbindable(cl *cluster) bool {
	lost := false
	for {
		keep := s.check.bound
		if s.check.run(cl, s.plan.placed, s.plan.reach) && s.check.run(cl, s.plan.placed, s.plan.eligible) {
			if s.certifier.independence.run(cl, s.plan.placed) {
				return lost
			}
			s.certifier.independence.drop(cl, keep)
		}
		lost = true
		s.plan.drop(cl, keep)
	}
}

// retry plans a cluster in other ways and keeps the best. It returns the work done.
func (s *planner) retry(cl *cluster, rank []int32, work int64, best *draft) (done int64) {
	once := cl.work()
	classes := slices.Clone(cl.classes)
	slices.SortFunc(classes, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
	left := slices.Clone(s.plan.todo)
	try := func(order []int32) bool {
		done += once
		s.again(cl, order)
		d := s.plan.save(cl, s.certifier.risk(cl), s.plan.stuck(cl))
		if !d.better(best) {
			return false
		}
		best = d
		return true
	}
	enough := func() bool { return best.risk.doubt == 0 && !best.stuck }
	if best.risk.doubt > 0 {
		if h := newAnchors(cl); h != nil {
			s.choice.mode = mode{urgent: true, anchor: h}
			try(h.order(s.plan.tables, classes))
		}
	}
	for attempt, last := 1, 0; !enough() && done+once <= work && attempt-last <= idle; attempt++ {
		s.choice.mode = mode{urgent: true, even: attempt%2 == 0}
		if attempt > 3 {
			s.choice.mode.noise = mix(uint64(attempt)) * uint64(attempt/2%2)
		}
		if try(rearrange(s.plan.p, classes, left, attempt)) {
			last = attempt
		}
		if attempt <= 2 {
			copy(left, s.plan.todo)
		}
	}
	s.choice.mode = mode{}
	s.plan.restore(cl, best)
	return done
}

// resettled is how often pods that would not bind are placed anew.
const resettled = 2

// again plans a cluster from the start.
func (s *planner) again(cl *cluster, order []int32) {
	for _, rule := range cl.rules {
		s.restart(rule)
	}
	for _, c := range order {
		s.begin(c)
	}
	s.run(order)
	if s.choice.mode.anchor != nil {
		s.choice.mode.anchor.open = true
		s.run(order)
	}
	for round := 0; s.dropUnbindable(cl) && round < resettled; round++ {
		s.run(order)
	}
}

// rearrange is another order: those that were left over first within their priority,
// then before all others, then any order.
func rearrange(p *Problem, classes []int32, left []int64, attempt int) []int32 {
	next := slices.Clone(classes)
	slices.SortStableFunc(next, func(a, b int32) int {
		priority := cmp.Compare(p.Classes[b].Priority, p.Classes[a].Priority)
		first := cmp.Compare(min(left[b], 1), min(left[a], 1))
		switch {
		case attempt <= 1:
			return cmp.Or(priority, first)
		case attempt <= 3:
			return first
		case attempt%3 == 0:
			priority = 0
		}
		x := mix(uint64(attempt)<<32 + uint64(a))
		y := mix(uint64(attempt)<<32 + uint64(b))
		return cmp.Or(priority, cmp.Compare(x, y))
	})
	return next
}
