package topology

import "slices"

// dealer deals out the pods of a cluster that have to do with spreads alone, see
// [planner.deal]. Others stay where they are, and are taken to bind.
type dealer struct {
	*planner
	hands   []*hand
	crews   []*crew
	spreads []dealtSpread
	// By place in the dealer's list of domains: the spread, whether its least count is taken of
	// the domain, pods that are there now, and those that bind whatever others do.
	of      []int32
	in      []bool
	n, firm []int64
	doubts  doubts
	lack    int64 // pods that are missing for a proof
	seed    uint64
}

// dealtSpread is a spread, and its range in the list of domains.
type dealtSpread struct {
	from, to int32
	most     int64
}

// crew is pods that hold the same spreads in the same domains: there is a proof for all of
// them, or for none.
type crew struct {
	held []int32
	pods int64
	// at are domains that count such pods without being sure of them, and n how many.
	at []int32
	n  []int64
}

// newDealer is a dealer for the plan of a cluster, or nil where there is nothing to deal out.
func (s *planner) newDealer(cl *cluster) *dealer {
	x := &dealer{planner: s}
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
		x.spreads = append(x.spreads, dealtSpread{first, int32(len(x.n)), rule.Max})
	}
	x.pickUp(cl, local)
	if len(x.hands) < 2 {
		return nil
	}
	x.firm = make([]int64, len(x.n))
	for _, h := range x.hands {
		for p, n := range h.count {
			for _, a := range h.seats[p].adds {
				x.n[a.at] -= a.each * n
			}
		}
	}
	copy(x.firm, x.n)
	for _, h := range x.hands {
		for p, n := range h.count {
			x.shift(h, p, n)
		}
	}
	x.doubts = newDoubts(x)
	x.lack = x.missing(many)
	return x
}

// shift adds pods of a hand at a seat, or takes them away.
func (x *dealer) shift(h *hand, seat int, n int64) {
	s := &h.seats[seat]
	if s.crew >= 0 {
		x.crews[s.crew].pods += n
	}
	for _, a := range s.adds {
		x.n[a.at] += a.each * n
		if a.in < 0 {
			x.firm[a.at] += a.each * n
		} else {
			x.crews[s.crew].n[a.in] += a.each * n
		}
	}
}

// move takes pods of a hand from a seat to another, whichever they are.
func (x *dealer) move(h *hand, from, to int, n int64) {
	x.shift(h, from, -n)
	x.shift(h, to, n)
	h.count[from] -= n
	h.count[to] += n
}

// put makes what is dealt out the plan.
func (x *dealer) put(cl *cluster) {
	for _, h := range x.hands {
		for i := range h.cards {
			k := &h.cards[i]
			clear(x.placed[x.first[k.class]:x.first[k.class+1]])
			for p, n := range k.n {
				x.placed[k.cells[p]] = n
			}
		}
	}
	x.recount(cl)
}

// cost is what all hands cost.
func (x *dealer) cost() (sum int64) {
	for _, h := range x.hands {
		for i := range h.cards {
			for p, n := range h.cards[i].n {
				sum += n * h.cards[i].cost[p]
			}
		}
	}
	return sum
}

// save says where all pods are, load takes them back there.
func (x *dealer) save() (out []int64) {
	for _, h := range x.hands {
		for i := range h.cards {
			out = append(out, h.cards[i].n...)
		}
	}
	return out
}

func (x *dealer) load(from []int64) {
	for _, h := range x.hands {
		before := slices.Clone(h.count)
		clear(h.count)
		for i := range h.cards {
			from = from[copy(h.cards[i].n, from):]
			for p, n := range h.cards[i].n {
				h.count[p] += n
			}
		}
		for p, n := range h.count {
			x.shift(h, p, n-before[p])
		}
	}
	x.lack = x.missing(many)
}
