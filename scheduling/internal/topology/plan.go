package topology

// Plan decides where pods go. See the package's description for what it promises.
func Plan(p *Problem) *Result {
	t := compile(p)
	s := newPlanner(t)
	s.run(s.order())
	return s.result()
}

// planner is a plan that grows.
type planner struct {
	*tables
	counts *counts
	rooms  *rooms
	placed []int64 // by cell
	todo   []int64 // by class
}

func newPlanner(t *tables) *planner {
	s := &planner{
		tables: t, counts: newCounts(t), rooms: newRooms(t),
		placed: make([]int64, len(t.cells)), todo: make([]int64, len(t.p.Classes)),
	}
	for c := range t.p.Classes {
		s.todo[c] = max(t.p.Classes[c].Count, 0)
	}
	s.reach()
	return s
}

// reach adds the domains to which pods that hold a spread rule could go to those of
// which the rule takes the minimum.
func (s *planner) reach() {
	for i := range s.cells {
		if !s.cells[i].source(s.tables).usable() {
			continue
		}
		for _, e := range s.cells[i].terms {
			if e.kind == Spread && e.holds && e.dom >= 0 {
				s.counts.in[e.dom] = true
			}
		}
	}
	for r := range s.p.Rules {
		s.counts.measure(int32(r))
	}
}

// run places classes in order, again and again until a pass places nothing.
func (s *planner) run(order []int32) {
	seen := make([]int32, len(s.p.Classes))
	for c := range seen {
		seen[c] = -1
	}
	for again := true; again; {
		again = false
		for _, c := range order {
			if s.todo[c] == 0 {
				continue
			}
			if v := s.changes(c); v != seen[c] {
				again = s.place(c) || again
				seen[c] = s.changes(c)
			}
		}
	}
}

// changes grows when a rule that a class holds may let more pods in.
func (s *planner) changes(class int32) int32 {
	n := int32(0)
	for _, link := range s.p.Classes[class].Links {
		if link.Holds && s.exists(link.Rule) {
			n += s.counts.version[link.Rule]
		}
	}
	return n
}

// place places as many pods of a class as it can, and reports whether it was any.
func (s *planner) place(class int32) bool {
	any := false
	for s.todo[class] > 0 {
		i, n, cost := s.choose(class)
		if n == 0 {
			return any
		}
		s.put(i, n, cost)
		any = true
	}
	return any
}

// put places n pods in a cell.
func (s *planner) put(i int32, n, cost int64) {
	c := &s.cells[i]
	s.rooms.take(i, n, cost)
	s.counts.add(c.terms, n)
	s.placed[i] += n
	s.todo[c.class] -= n
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

// blocker names the rule that keeps a class out of most sites that have room, or -1 if
// none has.
func (s *planner) blocker(class int32) int32 {
	cells, first := s.of(class)
	best, most := int32(-1), 0
	var rules []int32
	for i := range cells {
		if n, _ := s.rooms.find(first + int32(i)); n == 0 {
			continue
		}
		if _, rule, _ := s.counts.admits(cells[i].terms); rule >= 0 {
			rules = append(rules, rule)
		}
	}
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
