package topology

import "slices"

// Plan decides where pods go. See the package's description for its promises.
func Plan(p *Problem) *Result {
	s := newPlanner(compile(p))
	order := s.choosingOrder()
	for c := range p.Classes {
		s.begin(int32(c))
	}
	s.run(order)
	s.repair(order)
	return s.result()
}

// planner is a plan that grows.
type planner struct {
	*tables
	counts       *counts
	rooms        *rooms
	lookahead    *lookahead
	check        *replay
	independence *orderIndependence
	trial        *trial
	other        *trial // for a second goroutine; nil until there is one
	mode         mode
	placed       []int64 // by cell
	todo         []int64 // by class
	seen         []int32 // by class: the changes of its rules when no more pods got in
	// solo is, by affinity, the domain that pods have opened for their own kind, as
	// long as it has no others that are counted, or None.
	solo []int32
	// reassignLeft is work that may go into reassigning pods.
	reassignLeft int64
}

func newPlanner(t *tables) *planner {
	s := &planner{
		tables: t, counts: newCounts(t), rooms: newRooms(t), check: newReplay(t), independence: newOrderIndependence(t),
		placed: make([]int64, len(t.cells)), todo: make([]int64, len(t.p.Classes)),
		seen: make([]int32, len(t.p.Classes)), solo: make([]int32, len(t.p.Rules)),
	}
	s.trial = newTrial(t)
	s.reassignLeft = stepsPerProof * int64(max(0, t.p.Proofs))
	s.lookahead = newLookahead(s)
	for r := range t.p.Rules {
		s.restart(int32(r))
	}
	return s
}

// restart sets the counts of a rule to the running pods.
func (s *planner) restart(rule int32) {
	s.counts.restart(rule, s.reach)
	s.solo[rule] = None
}

// begin takes a class back to the start. The counts of its rules are not changed.
func (s *planner) begin(class int32) {
	s.todo[class] = max(s.p.Classes[class].Count, 0)
	clear(s.placed[s.first[class]:s.first[class+1]])
	s.rooms.clear(class)
	s.mode.anchor.update(s, class)
}

// run places classes in order, again and again until a pass places nothing.
func (s *planner) run(order []int32) {
	for _, c := range order {
		s.seen[c] = -1
	}
	for again := true; again; {
		again = false
		for _, c := range order {
			if s.todo[c] > 0 && s.counts.changes(c) != s.seen[c] {
				again = s.place(c) || again
				s.seen[c] = s.counts.changes(c)
			}
		}
	}
}

// place places as many pods of a class as it can, and reports whether it was any.
func (s *planner) place(class int32) bool {
	before := s.todo[class]
	for s.todo[class] > 0 {
		i, n, runs := s.choose(class)
		if n == 0 {
			break
		}
		s.noteOpened(&s.cells[i])
		s.rooms.take(i, n, runs)
		s.counts.add(s.cells[i].terms, n)
		s.mode.anchor.put(&s.cells[i], n)
		s.placed[i] += n
		s.todo[class] -= n
	}
	s.mode.anchor.update(s, class)
	return s.todo[class] < before
}

// noteOpened notes which domains pods of a cell open for their own kind, and in which
// others can do without that.
func (s *planner) noteOpened(c *cell) {
	for k := range c.terms {
		e := &c.terms[k]
		switch {
		case e.kind != Affinity || e.preference || e.dom < 0:
		case e.holds && s.counts.all[e.rule] == 0:
			s.solo[e.rule] = e.dom
		case !e.holds && e.adds > 0 && s.solo[e.rule] == e.dom:
			s.solo[e.rule] = None
		}
	}
}

// result is the plan as it stands.
func (s *planner) result() *Result {
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
func (s *planner) blocked(class int32) bool {
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
