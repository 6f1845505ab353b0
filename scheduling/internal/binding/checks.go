package binding

import "slices"

// checks are the terms that a pod has to keep, with what they come to as things stand.
type checks struct {
	r     *Run
	x     *class
	held  []int32
	least []int64 // by spread, the pods in the domain that has the fewest
	first bool    // nobody is there yet whom its affinity asks for, and it will do itself
}

// checks prepares the terms of a class; nil where no node can meet them.
func (r *Run) checks(x *class) *checks {
	k := &checks{r: r, x: x, least: make([]int64, len(x.hard))}
	for _, h := range x.heldBy {
		if r.s.holders[h].hard {
			k.held = append(k.held, h)
		}
	}
	for i := range x.hard {
		k.least[i] = r.fewest(&x.hard[i])
	}
	if len(x.near) > 0 {
		k.first = true
		for _, t := range x.near {
			k.first = k.first && !slices.ContainsFunc(r.counts[t.counter], func(n int64) bool { return n > 0 })
		}
		if k.first && !x.alone {
			return nil
		}
	}
	return k
}

// fewest is the least number of counted pods in a domain of a spread, 0 where there are fewer
// domains than it asks for.
func (r *Run) fewest(t *spread) int64 {
	low, domains := int64(-1), int64(0)
	for d, nodes := range r.nodesW[t.counter] {
		if nodes > 0 {
			domains++
			if n := at(r.counts[t.counter], int32(d)); low < 0 || n < low {
				low = n
			}
		}
	}
	if domains < t.least {
		return 0
	}
	return max(low, 0)
}

// admit reports whether a node meets all terms.
func (k *checks) admit(n *node) bool {
	r, x := k.r, k.x
	for i := range x.hard {
		t := &x.hard[i]
		d := n.domains[t.axis]
		if d == -1 || at(r.counts[t.counter], d)+t.self-k.least[i] > t.skew {
			return false
		}
	}
	for _, t := range x.near {
		d := n.domains[t.axis]
		if d == -1 || !k.first && at(r.counts[t.counter], d) == 0 {
			return false
		}
	}
	for _, t := range x.apart {
		if at(r.counts[t.counter], n.domains[t.axis]) > 0 {
			return false
		}
	}
	for _, h := range k.held {
		if at(r.held[h], n.domains[r.s.holders[h].axis]) > 0 {
			return false
		}
	}
	return true
}
