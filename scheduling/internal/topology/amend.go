package topology

import (
	"slices"
)

// The work that goes into planning again, in pods and sites that are gone through: a
// multiple of what planning once takes for each cluster, and some more for all of them
// together.
const (
	effortMore = 3
	effort     = 100_000
	idle       = 24 // attempts in a row without success, then it is given up
)

// amend drops pods that would not bind, and plans classes again that have unplaced
// pods because of rules, with all classes to which rules tie them. It does so too if
// pods bind only as long as they come in the right order.
func (s *planner) amend(order []int32) {
	rank := make([]int32, len(order))
	for at, c := range order {
		rank[c] = int32(at)
	}
	spare := int64(effort)
	for _, cl := range s.clusters() {
		lost := s.settle(cl)
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
	if s.p.Proofs > 0 && !s.late() && s.priced(cl) {
		s.polish(cl, s.p.Proofs)
		s.deal(cl)
	}
}

// late reports whether there is no time for that any more.
func (s *planner) late() bool { return s.p.Late != nil && s.p.Late() }

// work is what planning a cluster takes.
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
	anchor := make([]int32, len(s.p.Classes))
	for c := range s.p.Classes {
		anchor[c] = -1
		for _, link := range s.p.Classes[c].Links {
			if !s.exists(link.Rule) {
				continue
			}
			if anchor[c] < 0 {
				anchor[c] = link.Rule
			}
			parent[root(link.Rule)] = root(anchor[c])
		}
	}
	var found []*cluster
	byRoot := make([]*cluster, len(s.p.Rules))
	all := newCluster(s.tables)
	for _, c := range all.classes {
		if anchor[c] < 0 {
			continue
		}
		r := root(anchor[c])
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

// settle drops pods of a cluster that would not bind, and reports whether there were
// any. Pods have to bind whether or not the domains that stay empty exist, and to meet
// their affinities in any order.
func (s *planner) settle(cl *cluster) bool {
	lost := false
	for {
		keep := s.check.bound
		if s.check.run(cl, s.placed, s.reach) && s.check.run(cl, s.placed, s.eligible) {
			if s.ground.run(cl, s.placed) {
				return lost
			}
			s.ground.drop(cl, keep)
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
			s.needs.update(c)
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

// stuck reports whether rules keep pods of a cluster out that another plan might place.
func (s *planner) stuck(cl *cluster) bool {
	return slices.ContainsFunc(cl.classes, func(c int32) bool {
		return s.todo[c] > 0 && s.blocker(c) >= 0 &&
			max(s.p.Classes[c].Count, 0)-s.todo[c] < s.ceiling(c)
	})
}
