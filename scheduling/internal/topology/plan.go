package topology

// Plan decides where pods go. See the package's description for its promises.
func Plan(p *Problem) *Result {
	s := newPlanner(compile(p))
	order := choosingOrder(s.plan.tables)
	for c := range p.Classes {
		s.begin(int32(c))
	}
	s.run(order)
	s.repair(order)
	return s.plan.result()
}

// planner makes a plan, pod by pod.
type planner struct {
	plan       *plan
	choice     *chooser
	certifier  *certifier
	reassigner *reassigner
	check      *replay
	seen       []int32 // by class: the changes of its rules when no more pods got in
}

func newPlanner(t *tables) *planner {
	empty := &plan{tables: t, counts: newCounts(t), rooms: newRooms(t), placed: make([]int64, len(t.cells)), todo: make([]int64, len(t.p.Classes))}
	s := &planner{
		plan: empty, choice: &chooser{plan: empty, lookahead: newLookahead(empty), solo: make([]int32, len(t.p.Rules))},
		certifier: newCertifier(empty), check: newReplay(t), seen: make([]int32, len(t.p.Classes)),
	}
	s.reassigner = &reassigner{plan: empty, certifier: s.certifier, left: stepsPerProof * int64(max(0, t.p.Proofs))}
	for r := range t.p.Rules {
		s.restart(int32(r))
	}
	return s
}

// restart sets the counts of a rule to the running pods.
func (s *planner) restart(rule int32) {
	s.plan.counts.restart(rule, s.plan.reach)
	s.choice.solo[rule] = None
}

// begin takes a class back to the start. The counts of its rules are not changed.
func (s *planner) begin(class int32) {
	s.plan.todo[class] = max(s.plan.p.Classes[class].Count, 0)
	clear(s.plan.placed[s.plan.first[class]:s.plan.first[class+1]])
	s.plan.rooms.clear(class)
	s.choice.mode.anchor.update(s.plan, class)
}

// run places classes in order, again and again until a pass places nothing.
func (s *planner) run(order []int32) {
	for _, c := range order {
		s.seen[c] = -1
	}
	for again := true; again; {
		again = false
		for _, c := range order {
			if s.plan.todo[c] > 0 && s.plan.counts.changes(c) != s.seen[c] {
				again = s.place(c) || again
				s.seen[c] = s.plan.counts.changes(c)
			}
		}
	}
}

// place places as many pods of a class as it can, and reports whether it was any.
func (s *planner) place(class int32) bool {
	before := s.plan.todo[class]
	for s.plan.todo[class] > 0 {
		i, n, runs := s.choice.choose(class)
		if n == 0 {
			break
		}
		s.choice.noteOpened(&s.plan.cells[i])
		s.plan.rooms.take(i, n, runs)
		s.plan.counts.add(s.plan.cells[i].terms, n)
		s.choice.mode.anchor.put(&s.plan.cells[i], n)
		s.plan.placed[i] += n
		s.plan.todo[class] -= n
	}
	s.choice.mode.anchor.update(s.plan, class)
	return s.plan.todo[class] < before
}
