package topology

import "cmp"

// mode is how cells are weighed.
type mode struct {
	// urgent says that the needs of other pods go before preferences.
	urgent bool
	// even says that pods which a spread rule counts leave room for those that hold it.
	even bool
	// noise, unless 0, takes the place of costs.
	noise uint64
	// anchor, unless nil, is where classes go that would have to wait for each other.
	anchor *anchor
}

// merit is the disadvantages of a cell; the first that differs decides.
type merit struct {
	strands     int64 // pods that would meet their affinity in some orders only
	preferences int64 // the weight of preferences that are broken by rules or not granted by the site
	useless     int64 // 0 if a pod there lets others in
	missing     int64 // affine pods for which there is no room
	harm        int64 // how many places others lose by a pod there
	noise       int64
	cost        int64
	excess      int64 // spread rules that count the pod and would not let it in
	level       int64 // pods there that are counted by the spread rules that count the class
}

func (m *merit) compare(o *merit, urgent bool) int {
	preferences := cmp.Compare(m.preferences, o.preferences)
	needs := cmp.Or(
		cmp.Compare(m.useless, o.useless), cmp.Compare(m.missing, o.missing), cmp.Compare(m.harm, o.harm),
	)
	if urgent {
		preferences, needs = needs, preferences
	}
	return cmp.Or(cmp.Compare(m.strands, o.strands), preferences, needs,
		cmp.Compare(m.noise, o.noise), cmp.Compare(m.cost, o.cost),
		cmp.Compare(m.excess, o.excess), cmp.Compare(m.level, o.level))
}

// choose picks the best cell for the next pods of a class, and how many may go there
// before it has to choose again; 0 if there is none. They run if they go to a machine
// that does.
func (s *planner) choose(class int32) (best int32, n int64, runs bool) {
	cells, first := s.of(class)
	var least merit
	for k := range cells {
		i := first + int32(k)
		allowed, opens := s.counts.admits(cells[k].terms)
		if allowed == 0 {
			continue
		}
		room, price := s.rooms.find(i)
		if room == 0 {
			continue
		}
		m, steady := s.judge(&cells[k], price, opens)
		away, shut := s.mode.anchor.harm(s, &cells[k])
		if shut {
			continue
		}
		m.harm += away << 40
		if n > 0 && m.compare(&least, s.mode.urgent) >= 0 {
			continue
		}
		best, least = i, m
		n, runs = min(room, allowed, s.todo[class]), s.rooms.running(i)
		if !steady {
			n = 1
		}
	}
	return best, n, runs
}

// judge weighs a cell. The merit is steady if a pod there does not change the merit of this or another cell of the class.
func (s *planner) judge(c *cell, price int64, opens bool) (m merit, steady bool) {
	m = merit{preferences: c.source(s.tables).Penalty, useless: 1, cost: price}
	steady = !opens
	for i := range c.terms {
		e := &c.terms[i]
		if e.preference {
			if s.counts.breaks(e) {
				m.preferences += s.p.Rules[e.rule].Weight
			}
			steady = steady && (e.adds == 0 || !e.holds)
		}
		switch e.kind {
		case Spread:
			if e.dom >= 0 && e.adds > 0 {
				steady = false
				m.level += s.counts.count[e.dom]
				if !e.holds && !e.preference && s.counts.breaks(e) {
					m.excess++
				}
			}
		case Affinity:
			leads, strands := s.lead(c, e, &m), s.strand(e, opens, &m)
			steady = steady && !leads && !strands
		case Anti:
			steady = steady && (e.adds == 0 || e.dom < 0 || s.counts.count[e.dom] > 0)
		}
	}
	if s.mode.even {
		m.harm = m.excess << 32
	}
	if s.p.Priced {
		m.cost += m.preferences
		m.preferences = 0
	}
	if s.mode.noise != 0 {
		m.noise = int64(mix(s.mode.noise+uint64(c.class)<<20+uint64(c.site)) >> 2)
	}
	return m, steady
}

// lead weighs the pods that would follow a pod into a domain, and reports whether there are any. Pods follow if their
// affinity selects no pod yet.
func (s *planner) lead(c *cell, e *term, m *merit) bool {
	if e.preference {
		// All of its kind follow the first, unless their kind is elsewhere.
		if !e.holds || !e.self || s.counts.all[e.rule] > 0 {
			return false
		}
		if e.dom < 0 {
			m.missing += s.todo[c.class]
			return true
		}
	} else {
		if e.dom < 0 || e.adds == 0 || s.counts.count[e.dom] > 0 || !s.lookahead.isWanted(e) {
			return false
		}
		m.useless = 0
	}
	missing, cost := s.lookahead.gather(e)
	m.missing += missing
	m.cost += cost
	return true
}

// strand weighs a pod in a domain of an affinity for the pods that would open a domain for their own kind, and reports
// whether it matters for any domain. Such pods bind in every order only if all pods that the affinity selects are in
// one domain, or one of them there has no such affinity itself.
func (s *planner) strand(e *term, opens bool, m *merit) bool {
	if e.preference || e.dom < 0 {
		return false
	}
	if opens && e.holds && s.counts.count[e.dom] <= 0 {
		for _, other := range s.members[e.rule] {
			if left := s.todo[other.class]; left > 0 && s.barredFrom(other, e.dom) {
				m.strands += left
			}
		}
		return true
	}
	solo := s.solo[e.rule]
	if solo < 0 || e.adds == 0 {
		return false
	}
	if solo != e.dom {
		m.strands += s.counts.count[solo]
	}
	return !e.holds
}

// barredFrom reports whether a class is counted by an affinity, does not hold it, and cannot
// go to one of its domains.
func (s *planner) barredFrom(m member, dom int32) bool {
	cells, _ := s.of(m.class)
	counted := false
	for i := range cells {
		e := &cells[i].terms[m.term]
		if e.holds {
			return false
		}
		counted = counted || e.adds > 0 && e.dom >= 0
		if e.dom == dom && cells[i].source(s.tables).usable() {
			return false
		}
	}
	return counted
}
