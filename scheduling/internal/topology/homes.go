package topology

// bestHome picks a site for classes of which all should go to the same, as its domain
// of each spread rule: where most of their pods can go, and among such sites the
// cheapest. Domains that are taken are left out. It is nil if there is no class or no
// site.
func (s *planner) bestHome(classes, taken []int32) []int32 {
	if len(classes) == 0 {
		return nil
	}
	var best []int32
	var homeless, least int64
	for i := s.first[classes[0]]; i < s.first[classes[0]+1]; i++ {
		of := make([]int32, len(s.p.Rules))
		for r := range of {
			of[r] = None
		}
		if !s.agrees(i, of, taken) {
			continue
		}
		s.follow(i, of)
		out, cost := int64(0), int64(0)
		for _, c := range classes {
			at, price := s.cheapest(c, of, taken)
			if at < 0 {
				out += s.p.Classes[c].Count
				continue
			}
			s.follow(at, of)
			cost += price * s.p.Classes[c].Count
		}
		if best == nil || out < homeless || out == homeless && cost < least {
			best, homeless, least = of, out, cost
		}
	}
	return best
}

// agrees reports whether a cell can be used and is at the given domains, as far as
// they are known, and at none that is taken.
func (s *planner) agrees(i int32, of, taken []int32) bool {
	c := &s.cells[i]
	if !c.source(s.tables).usable() {
		return false
	}
	for k := range c.terms {
		e := &c.terms[k]
		if !e.spreads() {
			continue
		}
		if of[e.rule] >= 0 && of[e.rule] != e.dom {
			return false
		}
		if e.holds && (e.dom < 0 || len(taken) > 0 && taken[e.rule] == e.dom) {
			return false
		}
	}
	return true
}

// follow makes the domains of a cell known.
func (s *planner) follow(i int32, of []int32) {
	for k := range s.cells[i].terms {
		if e := &s.cells[i].terms[k]; e.spreads() {
			of[e.rule] = e.dom
		}
	}
}

// cheapest is the cheapest cell of a class that agrees with the given domains, and
// what a pod costs there; -1 if there is none. Machines that run cost nothing.
func (s *planner) cheapest(class int32, of, taken []int32) (best int32, cost int64) {
	best = -1
	for i := s.first[class]; i < s.first[class+1]; i++ {
		if price := max(0, s.cells[i].source(s.tables).Cost); (best < 0 || price < cost) && s.agrees(i, of, taken) {
			best, cost = i, price
		}
	}
	return best, cost
}
