package topology

import (
	"cmp"
	"slices"
)

// anchor is a way to plan classes whose spreads count each other's pods, so that they
// bind in every order: all pods that hold such a spread go to one of its domains, its anchor. The counts of the other
// domains then do not depend on pending pods that hold it, and pods without such spreads go there until the skew allows
// the anchor's count.
type anchor struct {
	cross    []bool  // by class: its spreads and the spreads of another class count each other's pods
	alone    []bool  // by class: it holds one spread, and crossed pods are counted in other domains of that, too
	site     []int32 // by class: a cell that is an anchor to it, or -1
	at       []bool  // by flat domain: it is an anchor of its rule
	anchored []bool  // by rule: it has any
	keep     []int64 // by flat domain: pods that are not placed yet and will be
	taken    []int64 // by class: its share of keep
	open     bool    // pods may go away from their anchor, if they have to
	doubt    []int64 // by flat domain: how much crossed pods add
}

// newAnchors picks anchors for the classes of a cluster; nil if no class needs one.
func newAnchors(cl *cluster) *anchor {
	t, cross := cl.t, cl.crossed()
	of := chooseAnchors(cl, cross)
	domains := t.domFirst[len(t.p.Rules)]
	if len(of.spreadGroups) == 0 {
		return nil
	}
	h := &anchor{
		cross: cross, alone: make([]bool, len(t.p.Classes)),
		at: make([]bool, domains), anchored: make([]bool, len(t.p.Rules)),
		site: make([]int32, len(t.p.Classes)), taken: make([]int64, len(t.p.Classes)),
		keep: make([]int64, domains), doubt: make([]int64, domains),
	}
	for r, at := range of.of {
		if at >= 0 {
			h.at[at], h.anchored[r] = true, true
		}
	}
	for _, f := range of.spreadGroups {
		at, _ := of.cell(f)
		for _, c := range f.classes {
			h.site[c] = -1
			if at >= 0 {
				h.site[c] = t.like(c, f.cells[at])
			}
		}
	}
	of.judge() // counts the pods of each domain
	for _, c := range cl.classes {
		if !cross[c] {
			h.site[c] = of.leans(c)
			h.alone[c] = h.site[c] >= 0
		}
	}
	return h
}

// shared reports whether a class holds a spread that has an anchor.
func (h *anchor) shared(t *tables, class int32) bool {
	return slices.ContainsFunc(t.p.Classes[class].Links, func(l Link) bool {
		return l.Holds && t.exists(l.Rule) && h.anchored[l.Rule]
	})
}

// like is the cheapest cell of a class with the same domains of spreads as another.
func (t *tables) like(class, as int32) int32 {
	best := int32(-1)
	for i := t.first[class]; i < t.first[class+1]; i++ {
		site := t.cells[i].source(t)
		same := site.usable()
		for k := range t.cells[i].terms {
			e, o := &t.cells[i].terms[k], &t.cells[as].terms
			if !e.spreads() {
				continue
			}
			for j := range *o {
				if f := &(*o)[j]; f.rule == e.rule && (f.dom != e.dom || f.adds != e.adds) {
					same = false
				}
			}
		}
		if same && (best < 0 || site.Cost < t.cells[best].source(t).Cost) {
			best = i
		}
	}
	return best
}

// leans is the anchor of a class that holds just one spread, if crossed pods are counted in other domains too, because the
// counts of these domains may not become balanced. It is -1 otherwise.
func (h *anchors) leans(class int32) int32 {
	if h.t.spreads(class) != 1 || h.t.follows(class) {
		return -1
	}
	for i := h.t.first[class]; i < h.t.first[class+1]; i++ {
		for k := range h.t.cells[i].terms {
			e := &h.t.cells[i].terms[k]
			if !e.spreads() || !e.holds || e.adds == 0 || h.of[e.rule] < 0 || e.dom != h.of[e.rule] {
				continue
			}
			from, to := h.t.domains(e.rule)
			for d := from; d < to; d++ {
				if d != e.dom && h.add[d] > 0 && h.t.cells[i].source(h.t).usable() {
					return i
				}
			}
		}
	}
	return -1
}

// update sets the places that are kept free for a class to the number of its pods that are not placed.
func (h *anchor) update(s *plan, class int32) {
	if h == nil || !h.cross[class] && !h.alone[class] || h.site[class] < 0 {
		return
	}
	n := s.todo[class] - h.taken[class]
	h.taken[class] = s.todo[class]
	for k := range s.cells[h.site[class]].terms {
		if e := &s.cells[h.site[class]].terms[k]; e.spreads() && e.dom >= 0 {
			h.keep[e.dom] += n * e.adds
		}
	}
}

// put adds pods of a crossed class to the doubtful pods of their domains, because no other pod may rely on them.
func (h *anchor) put(c *cell, n int64) {
	if h == nil || !h.cross[c.class] {
		return
	}
	for k := range c.terms {
		if e := &c.terms[k]; e.spreads() && e.dom >= 0 {
			h.doubt[e.dom] += n * e.adds
		}
	}
}

// away is the number of spreads that the class of a cell holds and of whose anchor it is no part.
func (h *anchor) away(c *cell) (n int64) {
	for k := range c.terms {
		if e := &c.terms[k]; e.spreads() && e.holds && (e.dom < 0 || !h.at[e.dom]) {
			n++
		}
	}
	return n
}

// harm counts the rules that are against a pod in a cell, because the pod keeps away from the rule's anchor, raises the count
// of the anchor too high, or is needed in another domain. A pod that must wait rather than go there is shut out.
func (h *anchor) harm(s *plan, c *cell) (harm int64, shut bool) {
	if h == nil {
		return 0, false
	}
	cross := h.cross[c.class]
	if cross {
		harm = 2 * h.away(c)
	}
	for k := range c.terms {
		e := &c.terms[k]
		if !e.spreads() || e.dom < 0 || e.adds == 0 || !h.anchored[e.rule] {
			continue
		}
		if h.at[e.dom] && h.high(s, e.rule, e.dom, cross)+e.adds > h.lowestSure(s, e.rule, e.dom) {
			harm += 4
			continue
		}
		if cross {
			continue
		}
		from, to := s.domains(e.rule)
		for at := from; at < to; at++ {
			if !h.at[at] || at == e.dom {
				continue
			}
			if high := h.high(s, e.rule, at, false); high > h.lowestSure(s, e.rule, at) && high <= h.sure(s, e.dom) {
				harm++
				break
			}
		}
	}
	return harm, cross && !h.open && harm > 0
}

// high is the count that each other domain needs so that the pods of an anchor bind in every order. It includes the pods
// that are still to be placed there, except when it is asked for these themselves.
func (h *anchor) high(s *plan, rule, at int32, crossed bool) int64 {
	high := s.counts.count[at] - s.p.Rules[rule].Max
	if !crossed {
		high += h.keep[at]
	}
	return high
}

// sure is the count that a domain is certain to have.
func (h *anchor) sure(s *plan, dom int32) int64 { return s.counts.count[dom] - h.doubt[dom] }

// lowestSure is the least sure count of a rule among the domains other than one.
func (h *anchor) lowestSure(s *plan, rule, but int32) int64 {
	from, to := s.domains(rule)
	low := int64(many)
	for d := from; d < to; d++ {
		if s.counts.in[d] && d != but {
			low = min(low, h.sure(s, d))
		}
	}
	return low
}

// order puts classes that hold no spread first, then classes with an anchor, because they need the counts of the former, then
// other classes that hold the same spreads.
func (h *anchor) order(t *tables, classes []int32) []int32 {
	next := slices.Clone(classes)
	rank := func(c int32) int {
		switch {
		case t.spreads(c) == 0:
			return 0
		case h.cross[c]:
			return 2
		case h.shared(t, c):
			return 3
		}
		return 1
	}
	slices.SortStableFunc(next, func(a, b int32) int { return cmp.Compare(rank(a), rank(b)) })
	return next
}
