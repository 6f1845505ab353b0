package topology

// home is a way to plan classes that hold one spread and are counted by another, so
// that they bind in whatever order they come: those that hold a spread all go to one
// of its domains, its home. What the other domains have then does not depend on pods
// that wait, and pods without such ties are made to go there until it is enough.
//
// There is one home for all spreads, unless one of them counts more of these pods
// than the others can make up for. Those that hold it are better off in some other
// domain, which is low then, and wait until the first are there.
type home struct {
	cross []bool  // by class: one of those classes
	late  []bool  // by class: it has the second home
	site  []int32 // by class: a cell that is home to it, or -1
	at    []bool  // by flat domain: it is home to those that hold the rule
	keep  []int64 // by flat domain: what will be added there by pods that are not placed
	taken []int64 // by class: what of it is in keep
	open  bool    // pods may go away from home, if they have to
	doubt []int64 // by flat domain: what pods add that are away from home, or late
}

// crosses reports whether a class holds a hard spread and is counted by another, which
// it does not hold.
func (t *tables) crosses(class int32) bool {
	cells, _ := t.of(class)
	if len(cells) == 0 {
		return false
	}
	counted := false
	for k := range cells[0].terms {
		e := &cells[0].terms[k]
		counted = counted || e.kind == Spread && !e.wish && e.self && !e.holds
	}
	return counted && t.spreads(class) > 0
}

// newHome picks homes for the classes of a cluster; nil if no class needs one.
func (s *planner) newHome(cl *cluster) *home {
	h := &home{
		cross: make([]bool, len(s.p.Classes)), late: make([]bool, len(s.p.Classes)),
		site: make([]int32, len(s.p.Classes)), taken: make([]int64, len(s.p.Classes)),
		at: make([]bool, len(s.counts.count)), keep: make([]int64, len(s.counts.count)),
		doubt: make([]int64, len(s.counts.count)),
	}
	var classes []int32
	for _, c := range cl.classes {
		if s.crosses(c) {
			h.cross[c] = true
			classes = append(classes, c)
		}
	}
	first := s.bestHome(classes, nil)
	if first == nil {
		return nil
	}
	heavy := s.heavy(cl, h.cross, first)
	var late []int32
	for _, c := range classes {
		if s.holdsAny(c, heavy) {
			late = append(late, c)
		}
	}
	second := s.bestHome(late, first)
	for _, c := range classes {
		of := first
		if second != nil && s.holdsAny(c, heavy) {
			h.late[c] = true
			of = second
		}
		h.site[c] = s.moveIn(c, of, h.at)
	}
	return h
}

// moveIn finds the cheapest cell of a class at home, and marks the domains of the
// spreads that it holds.
func (s *planner) moveIn(class int32, of []int32, at []bool) int32 {
	i, _ := s.cheapest(class, of, nil)
	if i >= 0 {
		for k := range s.cells[i].terms {
			if e := &s.cells[i].terms[k]; e.spreads() && e.holds && e.dom >= 0 {
				at[e.dom] = true
			}
		}
	}
	return i
}

// spreads reports whether a term is a spread that must hold.
func (e *term) spreads() bool { return e.kind == Spread && !e.wish }

// holdsAny reports whether a class holds one of the spreads.
func (s *planner) holdsAny(class int32, rules []bool) bool {
	for _, link := range s.p.Classes[class].Links {
		if link.Holds && s.exists(link.Rule) && rules[link.Rule] {
			return true
		}
	}
	return false
}

// heavy says of which spreads the home would be too high if all those classes went
// there: what is left could not fill the other domains up to it.
func (s *planner) heavy(cl *cluster, cross []bool, of []int32) []bool {
	heavy := make([]bool, len(s.p.Rules))
	for _, rule := range cl.rules {
		if s.p.Rules[rule].Kind != Spread || of[rule] < 0 {
			continue
		}
		here, there, others := int64(0), int64(0), int64(0)
		from, to := s.domains(rule)
		for d := from; d < to; d++ {
			switch {
			case d == of[rule]:
				here = s.p.Rules[rule].Domains[d-from].Count
			case s.reach[d]:
				there += s.p.Rules[rule].Domains[d-from].Count
				others++
			}
		}
		for _, m := range s.members[rule] {
			counts := s.p.Classes[m.class].Count * s.counted(m)
			if cross[m.class] {
				here += counts
			} else {
				there += counts
			}
		}
		heavy[rule] = others > 0 && here > there/others+s.p.Rules[rule].Max
	}
	return heavy
}

// counted is how much a pod of a class counts for a rule.
func (s *planner) counted(m member) int64 {
	cells, _ := s.of(m.class)
	if len(cells) == 0 {
		return 0
	}
	return cells[0].terms[m.term].adds
}

// update makes what is kept free agree with what a class has left to place.
func (h *home) update(s *planner, class int32) {
	if h == nil || !h.cross[class] || h.site[class] < 0 {
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

// put takes note of pods on which others cannot rely.
func (h *home) put(c *cell, n int64) {
	if h == nil || !h.cross[c.class] || !h.late[c.class] && h.away(c) == 0 {
		return
	}
	for k := range c.terms {
		if e := &c.terms[k]; e.spreads() && e.dom >= 0 {
			h.doubt[e.dom] += n * e.adds
		}
	}
}

// away is the number of spreads that a class holds and of whose home a cell is no part.
func (h *home) away(c *cell) (n int64) {
	for k := range c.terms {
		if e := &c.terms[k]; e.spreads() && e.holds && e.dom >= 0 && !h.at[e.dom] {
			n++
		}
	}
	return n
}

// harm says how many rules are against a pod in a cell: those of whose home it keeps
// away, and those of which it makes the home too high. A pod that has to wait rather
// than go there is shut out.
func (h *home) harm(s *planner, c *cell) (harm int64, shut bool) {
	if h == nil {
		return 0, false
	}
	cross := h.cross[c.class]
	if cross {
		harm = h.away(c)
	}
	for k := range c.terms {
		e := &c.terms[k]
		if !e.spreads() || e.dom < 0 || !h.at[e.dom] || e.adds == 0 {
			continue
		}
		high := s.counts.count[e.dom] + e.adds - s.p.Rules[e.rule].Max
		if !cross {
			high += h.keep[e.dom]
		}
		if high > h.least(s, e) {
			harm += 2
		}
	}
	return harm, cross && !h.open && harm > 0
}

// least is what the domains other than home are sure to have of a rule.
func (h *home) least(s *planner, e *term) int64 {
	from, to := s.domains(e.rule)
	low := int64(many)
	for d := from; d < to; d++ {
		if s.counts.in[d] && d != e.dom {
			low = min(low, s.counts.count[d]-h.doubt[d])
		}
	}
	return low
}
