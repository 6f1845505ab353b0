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
	for _, cl := range s.clusters() {
		lost := s.dropUnbindable(cl)
		risk, stuck := s.risk(cl), s.stuck(cl)
		if lost || stuck || risk.doubt > 0 {
			own := effortMore * s.work(cl)
			spare -= max(0, s.retry(cl, rank, own+spare, s.save(cl, risk, stuck))-own)
		}
		s.cheapen(cl)
	}
}

// cheapen moves pods of a cluster to where they cost less, where proofs are asked for.
func (s *planner) cheapen(cl *cluster) {
	if s.p.Proofs > 0 && !s.outOfTime() && s.priced(cl) {
		s.reassign(cl)
	}
}

// outOfTime reports whether there is no time for that any more.
func (s *planner) outOfTime() bool { return s.p.Late != nil && s.p.Late() }

// work is the effort of planning a cluster once.
func (s *planner) work(cl *cluster) (n int64) {
	for _, c := range cl.classes {
		n += max(s.p.Classes[c].Count, 0) + int64(s.first[c+1]-s.first[c]) + 1
	}
	return n
}

// clusters are the classes that rules tie together, each group in the order in which
// pods bind. Classes without links are left out.
func (s *planner) clusters() []*cluster {
	parent := make([]int32, len(s.p.Rules))
	for r := range parent {
		parent[r] = int32(r)
	}
	root := func(r int32) int32 {
		for parent[r] != r {
			parent[r] = parent[parent[r]]
			r = parent[r]
		}
		return r
	}
	firstRule := make([]int32, len(s.p.Classes))
	for c := range s.p.Classes {
		firstRule[c] = -1
		for _, link := range s.p.Classes[c].Links {
			if !s.exists(link.Rule) {
				continue
			}
			if firstRule[c] < 0 {
				firstRule[c] = link.Rule
			}
			parent[root(link.Rule)] = root(firstRule[c])
		}
	}
	var found []*cluster
	byRoot := make([]*cluster, len(s.p.Rules))
	all := newCluster(s.tables)
	for _, c := range all.classes {
		if firstRule[c] < 0 {
			continue
		}
		r := root(firstRule[c])
		if byRoot[r] == nil {
			byRoot[r] = &cluster{}
			found = append(found, byRoot[r])
		}
		byRoot[r].classes = append(byRoot[r].classes, c)
	}
	for _, rule := range all.rules {
		if cl := byRoot[root(rule)]; cl != nil {
			cl.rules = append(cl.rules, rule)
		}
	}
	return found
}

// dropUnbindable drops pods of a cluster that would not bind, and reports whether there were
// any. Pods have to bind whether or not the domains that stay empty exist, and to meet
// their affinities in any order.
func (s *planner) dropUnbindable(cl *cluster) bool {
	lost := false
	for {
		keep := s.check.bound
		if s.check.run(cl, s.placed, s.reach) && s.check.run(cl, s.placed, s.eligible) {
			if s.independence.run(cl, s.placed) {
				return lost
			}
			s.independence.drop(cl, keep)
		}
		lost = true
		for _, c := range cl.classes {
			for i := s.first[c]; i < s.first[c+1]; i++ {
				if n := s.placed[i] - keep[i]; n > 0 {
					s.rooms.drop(i, n, s.placed[i])
					s.placed[i] -= n
					s.todo[c] += n
				}
			}
		}
		s.recount(cl)
	}
}

// recount makes the counts of a cluster agree with where its pods are.
func (s *planner) recount(cl *cluster) {
	for _, rule := range cl.rules {
		s.counts.restart(rule, s.reach)
	}
	for _, c := range cl.classes {
		for i := s.first[c]; i < s.first[c+1]; i++ {
			if s.placed[i] > 0 {
				s.counts.add(s.cells[i].terms, s.placed[i])
			}
		}
	}
}

// stuck reports whether rules keep pods of a cluster out.
func (s *planner) stuck(cl *cluster) bool {
	return slices.ContainsFunc(cl.classes, func(c int32) bool {
		return s.todo[c] > 0 && s.blocked(c)
	})
}

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

// save keeps the plan of a cluster as it stands, with its risk.
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
		if h := s.newAnchors(cl); h != nil {
			s.mode = mode{urgent: true, anchor: h}
			try(s.anchorOrder(classes))
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
	if s.mode.anchor != nil {
		s.mode.anchor.open = true
		s.run(order)
	}
	for round := 0; s.dropUnbindable(cl) && round < resettled; round++ {
		s.run(order)
	}
}

// anchorOrder puts classes that hold no spread first, so that those with an anchor find
// the counts that they are compared with, then these, then others that hold the same spreads.
func (s *planner) anchorOrder(classes []int32) []int32 {
	next := slices.Clone(classes)
	rank := func(c int32) int {
		switch h := s.mode.anchor; {
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
