package topology

// Binds reports whether pods bind one by one in the order given, again and again until
// nothing more binds, and would meet their affinities in any order. A pod is the place
// of a class in p.Classes, and goes to the class's only site; Count, costs, limits, room
// and wishes play no part. The domains of a spread are those that [Replay] takes.
//
// It is what Replay finds for as many classes of one pod each, without making these.
// Where it takes too many rounds to tell, the answer is no.
func Binds(p *Problem, pods []int32, extra [][]int32) bool {
	t := compile(p)
	r := newReplay(t)
	placed := make([]int64, len(t.cells))
	for _, c := range pods {
		placed[t.first[c]]++
	}
	t.exist(placed, extra)
	all := newCluster(t)
	r.stand(all, placed, t.eligible)
	return r.line(pods) && newGround(t).run(all, placed)
}

// line binds pods in their order, those that did not bind again, and reports whether
// all are bound before long. What a rule has kept out once, it keeps out until the rule
// changes.
func (r *replay) line(pods []int32) bool {
	for c := range r.seen {
		r.seen[c] = -1
	}
	left := append([]int32(nil), pods...)
	for range patience - 1 {
		waiting := left[:0]
		for _, c := range left {
			now := r.counts.changes(c)
			if r.seen[c] != now {
				terms := r.cells[r.first[c]].terms
				if n, _, _ := r.counts.admits(terms); n > 0 {
					r.counts.add(terms, 1)
					continue
				}
				r.seen[c] = now
			}
			waiting = append(waiting, c)
		}
		if len(waiting) == 0 || len(waiting) == len(left) {
			return len(waiting) == 0
		}
		left = waiting
	}
	return false
}
