package topology

import (
	"cmp"
	"slices"
)

// draft is a plan for the classes of a cluster.
type draft struct {
	unplaced []int64 // by priority, the highest first
	risk     risk
	stuck    bool // rules keep pods out
	placed   [][]int64
	used     [][]use
	todo     []int64
}

// better reports whether a draft places more pods of the highest priority in which the
// two differ, or as many and binds in more orders.
func (d *draft) better(than *draft) bool {
	if c := slices.Compare(d.unplaced, than.unplaced); c != 0 {
		return c < 0
	}
	return cmp.Or(cmp.Compare(d.risk.lost, than.risk.lost), cmp.Compare(d.risk.doubt, than.risk.doubt)) < 0
}

// save keeps the plan of a cluster as it stands, with what is known of it.
func (s *planner) save(cl *cluster, risk risk, stuck bool) *draft {
	d := &draft{risk: risk, stuck: stuck}
	for k, c := range cl.classes {
		if k == 0 || s.p.Classes[c].Priority != s.p.Classes[cl.classes[k-1]].Priority {
			d.unplaced = append(d.unplaced, 0)
		}
		d.unplaced[len(d.unplaced)-1] += s.todo[c]
		d.placed = append(d.placed, slices.Clone(s.placed[s.first[c]:s.first[c+1]]))
		d.used = append(d.used, slices.Clone(s.rooms.used[c]))
		d.todo = append(d.todo, s.todo[c])
	}
	return d
}

// restore takes a cluster back to a draft.
func (s *planner) restore(cl *cluster, d *draft) {
	for k, c := range cl.classes {
		copy(s.placed[s.first[c]:s.first[c+1]], d.placed[k])
		s.rooms.restore(c, d.used[k], d.placed[k])
		s.todo[c] = d.todo[k]
		s.needs.update(c)
	}
	s.recount(cl)
}

// retry plans a cluster in other ways and keeps the best. It returns the work done.
func (s *planner) retry(cl *cluster, rank []int32, work int64, best *draft) (done int64) {
	once := s.work(cl)
	classes := slices.Clone(cl.classes)
	slices.SortFunc(classes, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
	left := slices.Clone(s.todo)
	try := func(order []int32) bool {
		done += once
		s.again(cl, order)
		d := s.save(cl, s.risk(cl), s.stuck(cl))
		if !d.better(best) {
			return false
		}
		best = d
		return true
	}
	enough := func() bool { return best.risk.doubt == 0 && !best.stuck }
	if best.risk.doubt > 0 {
		if h := s.newHome(cl); h != nil {
			s.mode = mode{urgent: true, home: h}
			try(s.homeward(classes))
		}
		if h := s.scattered(cl, best); h != nil {
			s.mode = mode{urgent: true, home: h}
			before := best
			if !try(s.homeward(classes)) && s.priced(cl) {
				d := s.save(cl, s.risk(cl), s.stuck(cl))
				if !before.better(d) && s.cost(cl, d) < s.cost(cl, before) {
					best = d
				}
			}
		}
	}
	for attempt, last := 1, 0; !enough() && done+once <= work && attempt-last <= idle; attempt++ {
		s.mode = mode{urgent: true, even: attempt%2 == 0}
		if attempt > 3 {
			s.mode.noise = mix(uint64(attempt)) * uint64(attempt/2%2)
		}
		if try(s.rearrange(classes, left, attempt)) {
			last = attempt
		}
		if attempt <= 2 {
			copy(left, s.todo)
		}
	}
	s.mode = mode{}
	s.restore(cl, best)
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
	if s.mode.home != nil {
		s.mode.home.open = true
		s.run(order)
	}
	for round := 0; s.settle(cl) && round < resettled; round++ {
		s.run(order)
	}
}

// homeward puts classes that hold no spread first, so that those with a home find
// what they are compared with, then these, then others that hold the same spreads.
func (s *planner) homeward(classes []int32) []int32 {
	next := slices.Clone(classes)
	rank := func(c int32) int {
		switch h := s.mode.home; {
		case s.spreads(c) == 0:
			return 0
		case h.cross[c]:
			return 2
		case h.shared(s.tables, c):
			return 3
		}
		return 1
	}
	slices.SortStableFunc(next, func(a, b int32) int { return cmp.Compare(rank(a), rank(b)) })
	return next
}

// rearrange is another order: those that were left over first within their priority,
// then before all others, then any order.
func (s *planner) rearrange(classes []int32, left []int64, attempt int) []int32 {
	next := slices.Clone(classes)
	slices.SortStableFunc(next, func(a, b int32) int {
		priority := cmp.Compare(s.p.Classes[b].Priority, s.p.Classes[a].Priority)
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
