package binding

import "slices"

// checks are the terms that a pod has to keep, with what they come to as things stand.
type checks struct {
	r     *Run
	x     *class
	least []int64 // by spread, the pods in the domain that has the fewest
	first bool    // nobody is there yet whom its affinity asks for, and it will do itself
}

// prepare makes them those of a class. It reports whether any node can meet them.
func (k *checks) prepare(r *Run, x *class) bool {
	k.r, k.x, k.least, k.first = r, x, k.least[:0], len(x.near) > 0
	for i := range x.hard {
		k.least = append(k.least, r.fewest(&x.hard[i]))
	}
	for _, t := range x.near {
		k.first = k.first && !slices.ContainsFunc(r.counts.lists[t.counter], func(n int64) bool { return n > 0 })
	}
	return !k.first || x.alone
}

// fewest is the least number of counted pods in a domain of a spread, 0 where there are fewer
// domains than it asks for.
func (r *Run) fewest(t *spread) int64 {
	low, domains := int64(-1), int64(0)
	for d, nodes := range r.nodesW.lists[t.counter] {
		if nodes > 0 {
			domains++
			if n := r.counts.at(t.counter, int32(d)); low < 0 || n < low {
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
func (k *checks) admit(n int32) bool {
	r, x := k.r, k.x
	for i := range x.hard {
		t := &x.hard[i]
		d := r.domains[t.axis][n]
		if d == -1 || r.counts.at(t.counter, d)+t.self-k.least[i] > t.skew {
			return false
		}
	}
	for _, t := range x.near {
		d := r.domains[t.axis][n]
		if d == -1 || !k.first && r.counts.at(t.counter, d) == 0 {
			return false
		}
	}
	for _, t := range x.apart {
		if r.counts.at(t.counter, r.domains[t.axis][n]) > 0 {
			return false
		}
	}
	for _, h := range x.heldBy {
		if o := &r.s.holders[h]; o.hard && r.held.at(int(h), r.domains[o.axis][n]) > 0 {
			return false
		}
	}
	return true
}
