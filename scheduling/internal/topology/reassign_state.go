package topology

import "slices"

// reassignment reassigns the pods of a cluster that have to do with spreads alone, see
// [reassigner.reassign]. Others stay where they are, and are taken to bind.
type reassignment struct {
	plan        *plan
	groups      []*podGroup
	proofGroups []*proofGroup
	spreads     []domainRange
	// By place in the reassignment's list of domains: the spread, whether its least count is taken of
	// the domain, pods that are there now, and those that bind whatever others do.
	of         []int32
	in         []bool
	n, firm    []int64
	proofState proofState
	lack       int64 // pods that are missing for a proof
	seed       uint64
}

// domainRange is a spread, and its range in the list of domains.
type domainRange struct {
	from, to int32
	most     int64
}

// proofGroup is pods that hold the same spreads in the same domains: there is a proof for all of
// them, or for none.
type proofGroup struct {
	held []int32
	pods int64
	// at are domains that count such pods without being sure of them, and n how many.
	at []int32
	n  []int64
}

// newReassignment is a reassignment for the plan of a cluster, or nil where there is nothing to reassign.
func newReassignment(s *plan, cl *cluster) *reassignment {
	x := &reassignment{plan: s}
	local := make([]int32, len(s.counts.count))
	for _, r := range cl.rules {
		rule := &s.p.Rules[r]
		if rule.Kind != Spread || rule.Weight > 0 {
			continue
		}
		if rule.MinDomains > 1 {
			return nil // how many domains there are is up to the pods
		}
		from, to := s.domains(r)
		first := int32(len(x.n))
		for d := from; d < to; d++ {
			local[d] = int32(len(x.n))
			x.of, x.in, x.n = append(x.of, int32(len(x.spreads))), append(x.in, s.counts.in[d]), append(x.n, s.counts.count[d])
		}
		x.spreads = append(x.spreads, domainRange{first, int32(len(x.n)), rule.Max})
	}
	x.collect(cl, local)
	if len(x.groups) < 2 {
		return nil
	}
	x.firm = make([]int64, len(x.n))
	for _, h := range x.groups {
		for p, n := range h.count {
			for _, a := range h.choices[p].adds {
				x.n[a.at] -= a.each * n
			}
		}
	}
	copy(x.firm, x.n)
	for _, h := range x.groups {
		for p, n := range h.count {
			x.shift(h, p, n)
		}
	}
	x.proofState = newProofState(x)
	x.lack = x.missing(many)
	return x
}

// shift adds pods of a group at a choice, or takes them away.
func (x *reassignment) shift(h *podGroup, choice int, n int64) {
	s := &h.choices[choice]
	if s.proofGroup >= 0 {
		x.proofGroups[s.proofGroup].pods += n
	}
	for _, a := range s.adds {
		x.n[a.at] += a.each * n
		if a.in < 0 {
			x.firm[a.at] += a.each * n
		} else {
			x.proofGroups[s.proofGroup].n[a.in] += a.each * n
		}
	}
}

// move takes pods of a group from a choice to another, whichever they are.
func (x *reassignment) move(h *podGroup, from, to int, n int64) {
	x.shift(h, from, -n)
	x.shift(h, to, n)
	h.count[from] -= n
	h.count[to] += n
}

// put takes the reassignment over into the plan.
func (x *reassignment) put(cl *cluster) {
	for _, h := range x.groups {
		for i := range h.shares {
			k := &h.shares[i]
			clear(x.plan.placed[x.plan.first[k.class]:x.plan.first[k.class+1]])
			for p, n := range k.n {
				x.plan.placed[k.cells[p]] = n
			}
		}
	}
	x.plan.recount(cl)
}

// cost is that of all groups.
func (x *reassignment) cost() (sum int64) {
	for _, h := range x.groups {
		for i := range h.shares {
			for p, n := range h.shares[i].n {
				sum += n * h.shares[i].cost[p]
			}
		}
	}
	return sum
}

// save says where all pods are, load takes them back there.
func (x *reassignment) save() (out []int64) {
	for _, h := range x.groups {
		for i := range h.shares {
			out = append(out, h.shares[i].n...)
		}
	}
	return out
}

func (x *reassignment) load(from []int64) {
	for _, h := range x.groups {
		before := slices.Clone(h.count)
		clear(h.count)
		for i := range h.shares {
			from = from[copy(h.shares[i].n, from):]
			for p, n := range h.shares[i].n {
				h.count[p] += n
			}
		}
		for p, n := range h.count {
			x.shift(h, p, n-before[p])
		}
	}
	x.lack = x.missing(many)
}
