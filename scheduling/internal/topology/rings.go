package topology

import "slices"

// crossed says, by class, whether spreads tie it to others both ways: it holds one that
// does not count it, and is counted by another, which it does not hold, and who gets in
// there decides, at once or by way of others, who gets in here. Only such pods may wait
// for each other for ever and may be all in one place as well. Others can be proven to
// bind one spread after the other, or have a spread that keeps themselves apart.
func (t *tables) crossed(cl *cluster) []bool {
	next := make([][]int32, len(t.p.Rules)) // what the counts of a spread depend on
	for _, c := range cl.classes {
		t.eachPair(c, func(counts, holds *term) {
			if !slices.Contains(next[counts.rule], holds.rule) {
				next[counts.rule] = append(next[counts.rule], holds.rule)
			}
		})
	}
	ring := rings(cl.rules, next)
	cross := make([]bool, len(t.p.Classes))
	for _, c := range cl.classes {
		t.eachPair(c, func(counts, holds *term) {
			cross[c] = cross[c] || !holds.self && ring[counts.rule] == ring[holds.rule]
		})
	}
	return cross
}

// eachPair goes through spreads that count a class, which does not hold them, and
// spreads that it holds.
func (t *tables) eachPair(class int32, do func(counts, holds *term)) {
	cells, _ := t.of(class)
	if len(cells) == 0 {
		return
	}
	terms := cells[0].terms
	for i := range terms {
		for k := range terms {
			if x, y := &terms[i], &terms[k]; x.spreads() && y.spreads() && x.self && !x.holds && y.holds {
				do(x, y)
			}
		}
	}
}

// rings numbers rules such that those have the same number which lead to each other.
func rings(rules []int32, next [][]int32) []int32 {
	ring := make([]int32, len(next))
	var order []int32
	seen := make([]bool, len(next))
	back := make([][]int32, len(next))
	var visit func(r int32, next [][]int32, leave func(r int32))
	visit = func(r int32, next [][]int32, leave func(r int32)) {
		seen[r] = true
		for _, to := range next[r] {
			if !seen[to] {
				visit(to, next, leave)
			}
		}
		leave(r)
	}
	for _, r := range rules {
		for _, to := range next[r] {
			back[to] = append(back[to], r)
		}
		if !seen[r] {
			visit(r, next, func(r int32) { order = append(order, r) })
		}
	}
	clear(seen)
	for i, r := range slices.Backward(order) {
		if !seen[r] {
			visit(r, back, func(r int32) { ring[r] = int32(i) })
		}
	}
	return ring
}
