package topology

// ceiling is a number of pods of a class that no plan exceeds: the least of what each
// of its hard rules leaves when everything else goes well, and the limits of its
// sites. Planning again cannot help a class that is there.
func (s *planner) ceiling(class int32) int64 {
	cells, first := s.of(class)
	limits := int64(0)
	for i := range cells {
		if cells[i].source(s.tables).usable() {
			limits = sum(limits, cells[i].limit(s.tables))
		}
	}
	most := min(s.p.Classes[class].Count, limits)
	if len(cells) == 0 {
		return 0
	}
	for k := range cells[0].terms {
		if e := &cells[0].terms[k]; e.holds && !e.wish {
			most = min(most, s.ruleCeiling(first, int32(len(cells)), k, e.rule))
		}
	}
	return most
}

// ruleCeiling is what one rule leaves of a class: the sum over the domains that it can
// reach.
func (s *planner) ruleCeiling(first, n int32, k int, rule int32) int64 {
	from, to := s.domains(rule)
	seen := make([]bool, to-from)
	fixed := s.fixed(rule)
	all := int64(0)
	for i := first; i < first+n; i++ {
		e := &s.cells[i].terms[k]
		if !s.cells[i].source(s.tables).usable() {
			continue
		}
		if e.dom < 0 {
			if e.kind == Anti {
				return many
			}
			continue
		}
		if !seen[e.dom-from] {
			seen[e.dom-from] = true
			all = sum(all, s.domainCeiling(e, &s.p.Rules[rule].Domains[e.dom-from], fixed))
		}
	}
	return all
}

// domainCeiling is what a rule leaves of a class in one domain. Fixed is the count of a
// domain that no pod can raise, or many.
func (s *planner) domainCeiling(e *term, d *Domain, fixed int64) int64 {
	switch e.kind {
	case Spread:
		room := sum(fixed, s.p.Rules[e.rule].Max) - d.Count
		switch {
		case room < 0:
			return 0
		case e.adds > 0 && fixed < many:
			return room / e.adds
		}
	case Affinity:
		if d.Count <= 0 && !s.raised(e.rule) {
			return 0
		}
	case Anti:
		switch {
		case d.Count > 0 || e.adds > 0 && d.Holders > 0:
			return 0
		case e.adds > 0:
			return 1
		}
	}
	return many
}

// raised reports whether any class counts for a rule.
func (s *planner) raised(rule int32) bool {
	for _, m := range s.members[rule] {
		cells, _ := s.of(m.class)
		for i := range cells {
			if cells[i].terms[m.term].adds > 0 {
				return true
			}
		}
	}
	return false
}

// fixed is the least count among the domains of a spread rule that no pod can raise,
// many if there is none.
func (s *planner) fixed(rule int32) int64 {
	low := int64(many)
	if s.p.Rules[rule].Kind != Spread {
		return low
	}
	from, to := s.domains(rule)
	raised := make([]bool, to-from)
	for _, m := range s.members[rule] {
		cells, _ := s.of(m.class)
		for i := range cells {
			if e := &cells[i].terms[m.term]; e.dom >= 0 && e.adds > 0 && cells[i].source(s.tables).usable() {
				raised[e.dom-from] = true
			}
		}
	}
	for d := range raised {
		if !raised[d] && s.reach[int(from)+d] {
			low = min(low, s.p.Rules[rule].Domains[d].Count)
		}
	}
	return low
}

// sum adds numbers that may stand for any number.
func sum(a, b int64) int64 {
	if a > many-b {
		return many
	}
	return a + b
}
