package topology

import "slices"

// certifyRounds bounds how often the pods of a cluster are gone through.
const certifyRounds = 8

// certified reports whether the plan of a cluster is known to bind in whatever order
// its pods come. It is about spread rules: what they let in depends on who is there
// already, and pods that wait for each other's counts may wait for ever.
//
// A pod is certain to bind if, in each spread rule that it holds, the final count of
// its domain is within the allowed skew of what every other domain is certain to have.
// Certain to be there are pods that run, pods that hold no spread, pods known to be
// certain themselves, and pods that hold this spread and no other: were the domain the
// least one, nothing would keep them out. In a state where nothing binds any more, the
// first pod in order of proof that is still out would have a place, so there is none.
func (s *planner) certified(cl *cluster) bool {
	doubt := make([]int64, len(s.counts.count)) // by domain, counted pods that are not certain
	var open []int32
	for _, c := range cl.classes {
		spreads := s.spreads(c)
		if spreads == 0 {
			continue
		}
		for i := s.first[c]; i < s.first[c+1]; i++ {
			if s.placed[i] == 0 {
				continue
			}
			open = append(open, i)
			s.eachDoubt(i, spreads, func(dom int32, n int64) { doubt[dom] += n })
		}
	}
	for round := 0; round < certifyRounds && len(open) > 0; round++ {
		left := open[:0]
		for _, i := range open {
			if !s.certain(i, doubt) {
				left = append(left, i)
				continue
			}
			s.eachDoubt(i, s.spreads(s.cells[i].class), func(dom int32, n int64) { doubt[dom] -= n })
		}
		if len(left) == len(open) {
			return false
		}
		open = left
	}
	return len(open) == 0
}

// spreads is the number of hard spread rules that a class holds.
func (t *tables) spreads(class int32) (n int) {
	cells, _ := t.of(class)
	if len(cells) == 0 {
		return 0
	}
	for k := range cells[0].terms {
		if e := &cells[0].terms[k]; e.kind == Spread && e.holds && !e.wish {
			n++
		}
	}
	return n
}

// eachDoubt goes through the domains in which the pods of a cell count for a spread
// that is not the only one they hold.
func (s *planner) eachDoubt(i int32, spreads int, do func(dom int32, n int64)) {
	for k := range s.cells[i].terms {
		e := &s.cells[i].terms[k]
		if e.kind == Spread && !e.wish && e.dom >= 0 && e.adds > 0 && (!e.holds || spreads > 1) {
			do(e.dom, e.adds*s.placed[i])
		}
	}
}

// certain reports whether the pods of a cell are certain to bind.
func (s *planner) certain(i int32, doubt []int64) bool {
	for k := range s.cells[i].terms {
		e := &s.cells[i].terms[k]
		if e.kind != Spread || !e.holds || e.wish {
			continue
		}
		rule := &s.p.Rules[e.rule]
		high := s.counts.count[e.dom] - rule.Max
		if high <= 0 {
			continue
		}
		from, to := s.domains(e.rule)
		sure := int64(0)
		for d := from; d < to; d++ {
			if s.counts.in[d] && d != e.dom && s.counts.count[d]-doubt[d] < high {
				return false
			}
			if s.eligible[d] || s.counts.count[d] > rule.Domains[d-from].Count {
				sure++
			}
		}
		if sure < rule.MinDomains {
			return false
		}
	}
	return true
}

// fragile reports whether the plan of a cluster may depend on the order in which pods
// come. Where spreads count each other's pods it takes a proof that it does not;
// elsewhere two more orders have to do if there is none.
func (s *planner) fragile(cl *cluster) bool {
	if s.certified(cl) {
		return false
	}
	if slices.ContainsFunc(cl.classes, s.crosses) {
		return true
	}
	backwards := &cluster{classes: slices.Clone(cl.classes), rules: cl.rules}
	slices.Reverse(backwards.classes)
	return !s.check.run(backwards, s.placed, s.reach)
}
