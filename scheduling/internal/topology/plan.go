package topology

// Plan decides where pods go. See the package's description for what it promises.
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
	queue        *retryQueue
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
	s.queue = newRetryQueue(t, s.counts)
	for r := range t.p.Rules {
		s.restart(int32(r))
	}
	return s
}

// restart takes a rule back to what runs.
func (s *planner) restart(rule int32) {
	s.counts.restart(rule, s.reach)
	s.solo[rule] = None
}

// begin takes a class back to the start. The counts of its rules are not changed.
func (s *planner) begin(class int32) {
	s.todo[class] = max(s.p.Classes[class].Count, 0)
	clear(s.placed[s.first[class]:s.first[class+1]])
	s.rooms.clear(class)
	s.lookahead.update(class)
	s.mode.anchor.update(s, class)
}

// run places classes in order, again and again until a pass places nothing. Between
// passes those that wait for what has changed get their turn.
func (s *planner) run(order []int32) {
	for _, c := range order {
		s.seen[c] = -1
	}
	s.queue.start(order)
	hasRoom := func(i int32) bool {
		n, _ := s.rooms.find(i)
		return n > 0
	}
	for again := true; again; {
		again = false
		try := func(c int32) {
			again = s.place(c) || again
			s.seen[c] = s.counts.changes(c)
			if s.todo[c] > 0 {
				s.queue.wait(c, hasRoom)
			}
		}
		for _, c := range order {
			if s.todo[c] > 0 && s.counts.changes(c) != s.seen[c] {
				try(c)
			}
		}
		s.queue.wake(hasRoom, try)
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
	s.lookahead.update(class)
	s.mode.anchor.update(s, class)
	return s.todo[class] < before
}

// noteOpened notes which domains pods of a cell open for their own kind, and in which
// others can do without that.
func (s *planner) noteOpened(c *cell) {
	for k := range c.terms {
		e := &c.terms[k]
		switch {
		case e.kind != Affinity || e.wish || e.dom < 0:
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
		Blocked:  make([]int32, len(s.p.Classes)),
	}
	for c := range s.p.Classes {
		from, to := s.first[c], s.first[c+1]
		r.Counts[c] = s.placed[from:to:to]
		r.Unplaced[c] = s.todo[c]
		r.Blocked[c] = -1
		if s.todo[c] > 0 {
			r.Blocked[c] = s.blocker(int32(c))
		}
	}
	return r
}

// blocker names the rule that keeps a class out of most of the sites that have room
// for it, or -1 if none has. Pods that were given up because they would not bind find
// a site open; what kept them from binding is a rule that they hold.
func (s *planner) blocker(class int32) int32 {
	cells, first := s.of(class)
	var rules []int32
	for k := range cells {
		if n, _ := s.rooms.find(first + int32(k)); n == 0 {
			continue
		}
		rule := int32(-1)
		if _, at, _ := s.counts.admits(cells[k].terms); at >= 0 {
			rule = cells[k].terms[at].rule
		}
		for i := 0; rule < 0 && i < len(cells[k].terms); i++ {
			if e := &cells[k].terms[i]; e.holds && !e.wish {
				rule = e.rule
			}
		}
		if rule >= 0 {
			rules = append(rules, rule)
		}
	}
	best, most := int32(-1), 0
	for _, rule := range rules {
		n := 0
		for _, other := range rules {
			if other == rule {
				n++
			}
		}
		if n > most || n == most && rule < best {
			best, most = rule, n
		}
	}
	return best
}
