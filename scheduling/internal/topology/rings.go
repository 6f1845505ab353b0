package topology

import "slices"

// crossed says, by class, whether spreads tie it to others both ways: it holds one and
// is counted by another, which it does not hold, and who gets in there decides, at
// once or by way of others, who gets in here. Only such pods may wait for each other
// for ever; others can be proven to bind one spread after the other.
func (t *tables) crossed(cl *cluster) []bool {
	next := make([][]int32, len(t.p.Rules)) // what the counts of a spread depend on
	each := func(class int32, do func(counts, holds int32)) {
		cells, _ := t.of(class)
		for k := range cells[:min(len(cells), 1)] {
			for _, x := range cells[k].terms {
				for _, y := range cells[k].terms {
					if x.spreads() && y.spreads() && x.self && !x.holds && y.holds {
						do(x.rule, y.rule)
					}
				}
			}
		}
	}
	for _, c := range cl.classes {
		each(c, func(counts, holds int32) {
			if !slices.Contains(next[counts], holds) {
				next[counts] = append(next[counts], holds)
			}
		})
	}
	ring := rings(cl.rules, next)
	cross := make([]bool, len(t.p.Classes))
	for _, c := range cl.classes {
		each(c, func(counts, holds int32) { cross[c] = cross[c] || ring[counts] == ring[holds] })
	}
	return cross
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
