package model

import "slices"

// Unbounded is the result of [Problem.Joining] where only room bounds a class: more pods than any problem has,
// and small enough to multiply by a weight.
const Unbounded = int64(1) << 40

// Joining returns how many more pods of class c may join the items on a machine that has pods of per-node
// limits already, by PerNode, Conflicts and PerNodeLimits alone; it ignores room. It is 0 where none may.
//
// Any subset of pods that may share a machine may share it, too. So machines that are filled class by class
// never have to be checked again as a whole.
func (p *Problem) Joining(items []Item, present []Presence, c ClassID) int64 {
	class := &p.Classes[c]
	n := Unbounded
	if class.PerNode > 0 || len(class.Conflicts) > 0 {
		for i := range items {
			if items[i].Class == c {
				if class.PerNode > 0 {
					n = min(n, class.PerNode-items[i].N)
				}
			} else if _, found := slices.BinarySearch(class.Conflicts, items[i].Class); found {
				return 0
			}
		}
		if class.PerNode > 0 {
			n = min(n, class.PerNode)
		}
	}
	for _, m := range class.PerNodeLimits {
		used, held := p.usedOfLimit(items, m.Limit)
		if !held && !m.Holds {
			continue
		}
		for _, x := range present {
			if x.Limit == m.Limit {
				used += x.N
			}
		}
		n = min(n, m.Allows(p.PerNodeLimits[m.Limit].Max-used))
	}
	return max(n, 0)
}

// AnyBinTakes reports whether some bin could hold a pod of class c besides its present pods.
func (p *Problem) AnyBinTakes(c ClassID) bool {
	for i := range p.Bins {
		if p.BinTakes(i, c) {
			return true
		}
	}
	return false
}

// BinTakes reports whether bin i could hold a pod of class c besides its present pods.
func (p *Problem) BinTakes(i int, c ClassID) bool {
	bin, class := &p.Bins[i], &p.Classes[c]
	return bin.Admits.Has(int(class.Group)) && Fits(bin.Room, class.Request) &&
		(len(class.PerNodeLimits) == 0 || p.Joining(nil, bin.Present, c) > 0)
}

// Allows returns how many pods of the class may join a machine that may hold spare more of the per-node limit;
// 0 or less where none may.
func (m Membership) Allows(spare int64) int64 {
	switch {
	case spare < 0:
		return 0
	case m.Weight > 0:
		return spare / m.Weight
	}
	return Unbounded
}

// usedOfLimit returns the weight of the items in per-node limit k, and whether one of them enforces it.
func (p *Problem) usedOfLimit(items []Item, k int32) (sum int64, held bool) {
	for i := range items {
		if m, found := p.Classes[items[i].Class].Membership(k); found {
			sum += m.Weight * items[i].N
			held = held || m.Holds
		}
	}
	return sum, held
}

// Membership returns the class's membership in per-node limit k.
func (c *Class) Membership(k int32) (Membership, bool) {
	for _, m := range c.PerNodeLimits {
		if m.Limit == k {
			return m, true
		}
	}
	return Membership{}, false
}

// WithinPerNodeLimits reports whether the items may be together on a machine that has pods of per-node limits
// already, by the per-node limits alone. It follows the definition literally and shares no code with
// [Problem.Joining], because it checks that.
func (p *Problem) WithinPerNodeLimits(items []Item, present []Presence) bool {
	for k, limit := range p.PerNodeLimits {
		var sum int64
		holds := false
		for _, x := range present {
			if int(x.Limit) == k {
				sum += x.N
			}
		}
		for _, it := range items {
			for _, m := range p.Classes[it.Class].PerNodeLimits {
				if int(m.Limit) == k && it.N > 0 {
					sum += m.Weight * it.N
					holds = holds || m.Holds
				}
			}
		}
		if holds && sum > limit.Max {
			return false
		}
	}
	return true
}
