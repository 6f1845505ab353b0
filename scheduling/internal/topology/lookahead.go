package topology

// lookahead knows the domains that pods need which are not placed yet, so that others do not take them.
type lookahead struct {
	plan *plan
	// wanted says, by flat domain of an Affinity rule, that pods which hold it have no
	// counted pod within reach and could go there. It holds for a version of the
	// rule's counts.
	wanted  []bool
	version []int32
}

func newLookahead(s *plan) *lookahead {
	return &lookahead{plan: s, wanted: make([]bool, s.domFirst[len(s.p.Rules)]), version: make([]int32, len(s.p.Rules))}
}

// isWanted reports whether a counted pod in a domain would let pods in that hold an
// Affinity rule and have no counted pod within reach.
func (w *lookahead) isWanted(e *term) bool {
	counts := w.plan.counts
	if v := counts.version[e.rule]; w.version[e.rule] != v {
		w.version[e.rule] = v
		w.survey(e.rule)
	}
	return w.wanted[e.dom]
}

// survey finds the domains in which a counted pod of an Affinity rule is wanted.
func (w *lookahead) survey(rule int32) {
	from, to := w.plan.domains(rule)
	clear(w.wanted[from:to])
	for _, m := range w.plan.members[rule] {
		cells, _ := w.plan.of(m.class)
		if w.plan.todo[m.class] == 0 || len(cells) == 0 || !cells[0].terms[m.term].holds {
			continue
		}
		reached := false
		for i := range cells {
			dom := cells[i].terms[m.term].dom
			reached = reached || dom >= 0 && w.plan.counts.count[dom] > 0 && cells[i].source(w.plan.tables).usable()
		}
		for i := range cells {
			if dom := cells[i].terms[m.term].dom; !reached && dom >= 0 && cells[i].source(w.plan.tables).usable() {
				w.wanted[dom] = true
			}
		}
	}
}

// affinityCost estimates the price if the pending pods that hold an Affinity rule have to go to a domain: how many have no room
// there, and the cost of the others.
func (w *lookahead) affinityCost(e *term) (missing, cost int64) {
	for _, m := range w.plan.members[e.rule] {
		cells, first := w.plan.of(m.class)
		left := w.plan.todo[m.class]
		if left == 0 || len(cells) == 0 || !cells[0].terms[m.term].holds {
			continue
		}
		cheapest, bought := int64(many), int64(0)
		for i := range cells {
			if cells[i].terms[m.term].dom != e.dom {
				continue
			}
			free, all := w.plan.rooms.capacity(first + int32(i))
			left -= min(left, free)
			if price := cells[i].source(w.plan.tables).Cost; all > free && price >= 0 {
				cheapest = min(cheapest, price)
				bought = max(bought, all-free)
			}
		}
		if n := min(left, bought); n > 0 {
			cost += n * cheapest
			left -= n
		}
		missing += left
	}
	return missing, cost
}
