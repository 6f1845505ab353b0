package model

import "slices"

// Unbounded is what [Problem.Joining] answers where nothing but room bounds a class:
// more pods than any problem has, and small enough to multiply by a weight.
const Unbounded = int64(1) << 40

// Joining is how many more pods of class c may sit on a machine that holds items,
// and where per-node limits of pods run already: by PerNode, Conflicts and PerNodeLimits alone, room
// aside. It is 0 where none may.
//
// Whoever may sit together may also sit together with fewer: machines that were
// filled one class after another never have to be looked at again as a whole.
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

// AnyBinTakes reports whether some bin could hold a pod of class c besides what runs there.
func (p *Problem) AnyBinTakes(c ClassID) bool {
	for i := range p.Bins {
		if p.BinTakes(i, c) {
			return true
		}
	}
	return false
}

// BinTakes reports whether a bin could hold a pod of class c besides what runs there.
func (p *Problem) BinTakes(i int, c ClassID) bool {
	bin, class := &p.Bins[i], &p.Classes[c]
	return bin.Admits.Has(int(class.Group)) && Fits(bin.Room, class.Request) &&
		(len(class.PerNodeLimits) == 0 || p.Joining(nil, bin.Present, c) > 0)
}

// Allows is how many pods of the class may still come to a machine that may hold
// spare more of the per-node limit; it is negative or 0 where none may.
func (m Membership) Allows(spare int64) int64 {
	switch {
	case spare < 0:
		return 0
	case m.Weight > 0:
		return spare / m.Weight
	}
	return Unbounded
}

// usedOfLimit is how much of per-node limit k the items are, and whether one of them holds the
// machine to its bound.
func (p *Problem) usedOfLimit(items []Item, k int32) (sum int64, held bool) {
	for i := range items {
		if m, found := p.Classes[items[i].Class].Membership(k); found {
			sum += m.Weight * items[i].N
			held = held || m.Holds
		}
	}
	return sum, held
}

// Membership is what the class has to do with per-node limit k.
func (c *Class) Membership(k int32) (Membership, bool) {
	for _, m := range c.PerNodeLimits {
		if m.Limit == k {
			return m, true
		}
	}
	return Membership{}, false
}

// WithinPerNodeLimits reports whether the items may be together on a machine where per-node limits of
// pods run already, as far as the problem's per-node limits are concerned. It reads the rule
// as it is written and shares nothing with [Problem.Joining], which it checks.
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
