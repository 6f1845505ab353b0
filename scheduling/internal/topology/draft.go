package topology

import (
	"cmp"
	"slices"
)

// plan is where pods are placed, with the counts of rules and the room that follow from it.
type plan struct {
	*tables
	counts *counts
	rooms  *rooms
	placed []int64 // by cell
	todo   []int64 // by class: pods that are not placed
}

// result is the plan as it stands.
func (s *plan) result() *Result {
	r := &Result{
		Counts:   make([][]int64, len(s.p.Classes)),
		Unplaced: make([]int64, len(s.p.Classes)),
	}
	for c := range s.p.Classes {
		from, to := s.first[c], s.first[c+1]
		r.Counts[c] = s.placed[from:to:to]
		r.Unplaced[c] = s.todo[c]
	}
	return r
}

// blocked reports whether a rule keeps a class out of a site that has room for it. Pods that
// were given up because they would not bind find a site open: a rule that they hold kept
// them from binding.
func (s *plan) blocked(class int32) bool {
	cells, first := s.of(class)
	for k := range cells {
		if n, _ := s.rooms.find(first + int32(k)); n == 0 {
			continue
		}
		if n, _ := s.counts.admits(cells[k].terms); n == 0 ||
			slices.ContainsFunc(cells[k].terms, func(e term) bool { return e.holds && !e.preference }) {
			return true
		}
	}
	return false
}

// stuck reports whether rules keep pods of a cluster out.
func (s *plan) stuck(cl *cluster) bool {
	return slices.ContainsFunc(cl.classes, func(c int32) bool {
		return s.todo[c] > 0 && s.blocked(c)
	})
}

// recount makes the counts of a cluster agree with where its pods are.
func (s *plan) recount(cl *cluster) {
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

// drop takes pods of a cluster away that are not among those to keep, by cell.
func (s *plan) drop(cl *cluster, keep []int64) {
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
func (s *plan) save(cl *cluster, risk risk, stuck bool) *draft {
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
func (s *plan) restore(cl *cluster, d *draft) {
	for k, c := range cl.classes {
		copy(s.placed[s.first[c]:s.first[c+1]], d.placed[k])
		s.rooms.restore(c, d.used[k], d.placed[k])
		s.todo[c] = d.todo[k]
	}
	s.recount(cl)
}

// cheapest reports whether all pods of a draft are where their class is cheapest.
func (d *draft) cheapest(t *tables, cl *cluster) bool {
	for k, c := range cl.classes {
		cells, _ := t.of(c)
		least := Nowhere
		for j := range cells {
			if cost := cells[j].source(t).Cost; cost != Nowhere && (least == Nowhere || cost < least) {
				least = cost
			}
		}
		for j, n := range d.placed[k] {
			if n > 0 && cells[j].source(t).Cost > least {
				return false
			}
		}
	}
	return true
}

// cost is that of a draft by the costs of sites.
func (d *draft) cost(t *tables, cl *cluster) (sum float64) {
	for k, c := range cl.classes {
		for j, n := range d.placed[k] {
			sum += float64(n) * float64(max(0, t.cells[int(t.first[c])+j].source(t).Cost))
		}
	}
	return sum
}
