package topology

import "cmp"

// merit is what speaks for and against a cell, the smaller the better.
type merit struct {
	wishes int64 // what is violated, and what the site itself does not grant
	cost   int64
	level  int64 // pods that the rules which the class holds count there
}

func (m merit) compare(o merit) int {
	return cmp.Or(cmp.Compare(m.wishes, o.wishes), cmp.Compare(m.cost, o.cost), cmp.Compare(m.level, o.level))
}

// choose picks the best cell for the next pods of a class, and how many may go there
// before it has to choose again; 0 if there is none.
func (s *planner) choose(class int32) (best int32, n, cost int64) {
	cells, first := s.of(class)
	var least merit
	for at := range cells {
		i := first + int32(at)
		allowed, _, _ := s.counts.admits(cells[at].terms)
		if allowed == 0 {
			continue
		}
		room, price := s.rooms.find(i)
		if room == 0 {
			continue
		}
		m, steady := s.judge(&cells[at], price)
		if n > 0 && m.compare(least) >= 0 {
			continue
		}
		best, least, cost = i, m, price
		n = min(room, allowed, s.todo[class])
		if !steady {
			n = 1
		}
	}
	return best, n, cost
}

// judge weighs a cell. It is steady if a pod there does not change what is said of it
// or of the other cells of the class.
func (s *planner) judge(c *cell, price int64) (m merit, steady bool) {
	m = merit{wishes: c.source(s.tables).Penalty, cost: price}
	steady = true
	for i := range c.terms {
		e := &c.terms[i]
		if e.holds && e.dom >= 0 {
			m.level += s.counts.count[e.dom]
			steady = steady && e.adds == 0 // levels and wishes change with each pod
		}
		if e.wish && s.counts.breaks(e) {
			m.wishes += s.p.Rules[e.rule].Weight
		}
	}
	if s.p.Priced {
		m.cost += m.wishes
		m.wishes = 0
	}
	return m, steady
}

// breaks reports whether one more pod would break a wish.
func (s *counts) breaks(e *term) bool {
	switch e.kind {
	case Spread:
		return e.holds && (e.dom < 0 ||
			s.count[e.dom]+e.adds-s.floor(e.rule, e.dom) > s.t.p.Rules[e.rule].Max)
	case Affinity:
		return e.holds && (e.dom < 0 || s.count[e.dom] <= 0)
	default:
		return e.dom >= 0 && (e.holds && s.count[e.dom] > 0 || e.adds > 0 && s.holders[e.dom] > 0)
	}
}
