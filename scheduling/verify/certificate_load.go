package verify

// load is what a machine may hold: pods of some sorts within a room. The room is cut to
// what the pods request together.
type load struct {
	room []int64
	pods []portion
}

// portion is a number of pods of a sort.
type portion struct {
	sort  int
	count int64
}

// anywhere lets every pod in.
func anywhere(int) bool { return true }

// loadOf collects the pods that fit and whose constraints let them be there. Those that are
// worth nothing are left out: without them a machine has room for as much worth.
func (pr *assignmentProof) loadOf(room []int64, mayBe func(s *sort, constraint int) bool) load {
	l := load{room: make([]int64, len(room))}
	for i, s := range pr.sorts {
		if s.worth.Sign() == 0 || !fits(s.size, room) {
			continue
		}
		count := s.count(func(c int) bool { return mayBe(s, c) })
		if s.limited {
			count = min(count, s.most)
		}
		if count == 0 {
			continue
		}
		l.pods = append(l.pods, portion{i, count})
		for d, n := range s.size {
			l.room[d] += n * count // all placed pods together are within an int64
		}
	}
	for d, n := range room {
		l.room[d] = max(0, min(l.room[d], n))
	}
	return l
}

func fits(size, room []int64) bool {
	for d, n := range size {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}

// alone is how many of so many pods of the sort the room holds when nothing else is
// there.
func (s *sort) alone(most int64, room []int64) int64 {
	if s.single {
		most = min(most, 1)
	}
	for d, n := range s.size {
		if n > 0 {
			most = min(most, room[d]/n)
		}
	}
	return most
}

// vector turns what a machine has into the form of the proof. What is beyond an int64 is
// beyond what the pods request.
func (pr *assignmentProof) vector(a amounts) []int64 {
	out := make([]int64, len(pr.names), len(pr.names)+len(pr.measures))
	for d, name := range pr.names {
		switch n := a.of(name); {
		case n.IsInt64():
			out[d] = n.Int64()
		case n.Sign() > 0:
			out[d] = 1<<63 - 1
		}
	}
	for _, m := range pr.measures {
		out = append(out, m.machine(a))
	}
	return out
}
