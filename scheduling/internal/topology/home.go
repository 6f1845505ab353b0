package topology

import "math"

// home is a way to plan classes that hold one spread and are counted by another, so
// that they bind in whatever order they come: all of them go to one and the same
// site. The counts of the other domains then do not depend on pods that wait, and
// other pods are made to go there until they are high enough.
type home struct {
	cross []bool  // by class: one of those classes
	at    []bool  // by flat domain: where they go
	keep  []int64 // by flat domain: what they will add there, of those not placed yet
	taken []int64 // by class: what of it is in keep
	open  bool    // they may go elsewhere, if they have to
	stray []int64 // by flat domain: what those add that went elsewhere
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
		counted = counted || e.kind == Spread && !e.wish && e.self && !e.holds && t.p.Rules[e.rule].Kind == Spread
	}
	return counted && t.spreads(class) > 0
}

// newHome picks a home for the classes of a cluster; nil if no class needs one. It is
// where most of them can go, and among such sites the cheapest.
func (s *planner) newHome(cl *cluster) *home {
	h := &home{
		cross: make([]bool, len(s.p.Classes)), at: make([]bool, len(s.counts.count)),
		keep: make([]int64, len(s.counts.count)), stray: make([]int64, len(s.counts.count)),
		taken: make([]int64, len(s.p.Classes)),
	}
	var classes []int32
	for _, c := range cl.classes {
		if s.crosses(c) {
			h.cross[c] = true
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		return nil
	}
	homeless, least := int64(math.MaxInt64), int64(0)
	var best []int32
	for i := s.first[classes[0]]; i < s.first[classes[0]+1]; i++ {
		of := make([]int32, len(s.p.Rules))
		for r := range of {
			of[r] = None
		}
		if !s.settleAt(i, of) {
			continue
		}
		out, cost := s.follow(classes, of)
		if best == nil || out < homeless || out == homeless && cost < least {
			best, homeless, least = of, out, cost
		}
	}
	if best == nil {
		return nil
	}
	for _, dom := range best {
		if dom >= 0 {
			h.at[dom] = true
		}
	}
	return h
}

// settleAt makes the domains of a cell home, unless other domains of the same rules
// are.
func (s *planner) settleAt(i int32, of []int32) bool {
	c := &s.cells[i]
	if !c.source(s.tables).usable() {
		return false
	}
	for k := range c.terms {
		if e := &c.terms[k]; e.kind == Spread && !e.wish && of[e.rule] >= 0 && of[e.rule] != e.dom {
			return false
		}
	}
	for k := range c.terms {
		if e := &c.terms[k]; e.kind == Spread && !e.wish {
			of[e.rule] = e.dom
		}
	}
	return true
}

// follow lets all classes settle where those before them did. It returns how many pods
// cannot, and what the others cost.
func (s *planner) follow(classes, of []int32) (out, cost int64) {
	trial := make([]int32, len(of))
	for _, c := range classes {
		cheapest, found := int64(math.MaxInt64), int32(-1)
		for i := s.first[c]; i < s.first[c+1]; i++ {
			copy(trial, of)
			price := s.cells[i].source(s.tables).Cost
			if price < 0 {
				price = 0 // machines that run
			}
			if price < cheapest && s.settleAt(i, trial) {
				cheapest, found = price, i
			}
		}
		if found < 0 {
			out += s.p.Classes[c].Count
			continue
		}
		s.settleAt(found, of)
		cost += cheapest * s.p.Classes[c].Count
	}
	return out, cost
}

// update makes what is kept free agree with what a class has left to place.
func (h *home) update(s *planner, class int32) {
	if h == nil {
		return
	}
	n := s.todo[class] - h.taken[class]
	if !h.cross[class] || n == 0 {
		return
	}
	h.taken[class] = s.todo[class]
	for k := range s.cells[s.first[class]].terms {
		e := &s.cells[s.first[class]].terms[k]
		if e.kind != Spread || e.wish || !e.self {
			continue
		}
		from, to := s.domains(e.rule)
		for d := from; d < to; d++ {
			if h.at[d] {
				h.keep[d] += n * e.adds
			}
		}
	}
}

// put takes note of pods that went away from home.
func (h *home) put(c *cell, n int64) {
	if h == nil || !h.cross[c.class] {
		return
	}
	for k := range c.terms {
		if e := &c.terms[k]; e.kind == Spread && !e.wish && e.dom >= 0 && !h.at[e.dom] {
			h.stray[e.dom] += n * e.adds
		}
	}
}

// harm says how many rules are against a pod in a cell: those of whose home it keeps
// away, and those in which it makes home too high for others. A pod that has to wait
// rather than go there is shut out.
func (h *home) harm(s *planner, c *cell) (harm int64, shut bool) {
	if h == nil {
		return 0, false
	}
	cross := h.cross[c.class]
	for k := range c.terms {
		e := &c.terms[k]
		switch {
		case e.kind != Spread || e.wish || e.dom < 0:
		case !h.at[e.dom]:
			if cross {
				harm++
			}
		case e.adds > 0:
			high := s.counts.count[e.dom] + e.adds - s.p.Rules[e.rule].Max
			if !cross {
				high += h.keep[e.dom]
			}
			if high > h.least(s, e) {
				harm += 2
			}
		}
	}
	return harm, cross && !h.open && harm > 0
}

// least is what the domains other than home have of a rule without those that went
// away from home.
func (h *home) least(s *planner, e *term) int64 {
	from, to := s.domains(e.rule)
	low := int64(math.MaxInt64)
	for d := from; d < to; d++ {
		if s.counts.in[d] && d != e.dom {
			low = min(low, s.counts.count[d]-h.stray[d])
		}
	}
	return low
}
