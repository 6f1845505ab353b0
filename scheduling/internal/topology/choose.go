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

// chooser chooses the site of the next pods.
type chooser struct {
	plan      *plan
	lookahead *lookahead
	mode      mode
	// solo is, by affinity, the domain that pods have opened for their own kind, as
	// long as it has no others that are counted, or None.
	solo []int32
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
func (s *chooser) choose(class int32) (best int32, n int64, runs bool) {
	cells, first := s.plan.of(class)
	var least merit
	for k := range cells {
		i := first + int32(k)
		allowed, opens := s.plan.counts.admits(cells[k].terms)
		if allowed == 0 {
			continue
		}
		room, price := s.plan.rooms.find(i)
		if room == 0 {
			continue
		}
		m, steady := s.judge(&cells[k], price, opens)
		away, shut := s.mode.anchor.harm(s.plan, &cells[k])
		if shut {
			continue
		}
		m.harm += away << 40
		if n > 0 && m.compare(&least, s.mode.urgent) >= 0 {
			continue
		}
		best, least = i, m
		n, runs = min(room, allowed, s.plan.todo[class]), s.plan.rooms.running(i)
		if !steady {
			n = 1
		}
	}
	return best, n, runs
}

// judge weighs a cell. The merit is steady if a pod there does not change the merit of this or another cell of the class.
func (s *chooser) judge(c *cell, price int64, opens bool) (m merit, steady bool) {
	m = merit{preferences: c.source(s.plan.tables).Penalty, useless: 1, cost: price}
	steady = !opens
	for i := range c.terms {
		e := &c.terms[i]
		if e.preference {
			if s.plan.counts.breaks(e) {
				m.preferences += s.plan.p.Rules[e.rule].Weight
			}
			steady = steady && (e.adds == 0 || !e.holds)
		}
		switch e.kind {
		case Spread:
			if e.dom >= 0 && e.adds > 0 {
				steady = false
				m.level += s.plan.counts.count[e.dom]
				if !e.holds && !e.preference && s.plan.counts.breaks(e) {
					m.excess++
				}
			}
		case Affinity:
			leads, strands := s.lead(c, e, &m), s.strand(e, opens, &m)
			steady = steady && !leads && !strands
		case Anti:
			steady = steady && (e.adds == 0 || e.dom < 0 || s.plan.counts.count[e.dom] > 0)
		}
	}
	if s.mode.even {
		m.harm = m.excess << 32
	}
	if s.plan.p.Priced {
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
func (s *chooser) lead(c *cell, e *term, m *merit) bool {
	if e.preference {
		// All of its kind follow the first, unless their kind is elsewhere.
		if !e.holds || !e.self || s.plan.counts.all[e.rule] > 0 {
			return false
		}
		if e.dom < 0 {
			m.missing += s.plan.todo[c.class]
			return true
		}
	} else {
		if e.dom < 0 || e.adds == 0 || s.plan.counts.count[e.dom] > 0 || !s.lookahead.isWanted(e) {
			return false
		}
		m.useless = 0
	}
	missing, cost := s.lookahead.affinityCost(e)
	m.missing += missing
	m.cost += cost
	return true
}

// strand weighs a pod in a domain of an affinity for the pods that would open a domain for their own kind, and reports
// whether it matters for any domain. Such pods bind in every order only if all pods that the affinity selects are in
// one domain, or one of them there has no such affinity itself.
func (s *chooser) strand(e *term, opens bool, m *merit) bool {
	if e.preference || e.dom < 0 {
		return false
	}
	if opens && e.holds && s.plan.counts.count[e.dom] <= 0 {
		for _, other := range s.plan.members[e.rule] {
			if left := s.plan.todo[other.class]; left > 0 && s.plan.barredFrom(other, e.dom) {
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
		m.strands += s.plan.counts.count[solo]
	}
	return !e.holds
}

// noteOpened notes which domains pods of a cell open for their own kind, and in which
// others can do without that.
func (s *chooser) noteOpened(c *cell) {
	for k := range c.terms {
		e := &c.terms[k]
		switch {
		case e.kind != Affinity || e.preference || e.dom < 0:
		case e.holds && s.plan.counts.all[e.rule] == 0:
			s.solo[e.rule] = e.dom
		case !e.holds && e.adds > 0 && s.solo[e.rule] == e.dom:
			s.solo[e.rule] = None
		}
	}
}
