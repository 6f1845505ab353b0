package prove

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// DomainSpread is the numbers of a topology spread constraint over domains, or with Apart of an anti-affinity term: at
// most one pod in a domain, and none where one runs.
type DomainSpread struct {
	Skew  int64
	Apart bool
	// Placed is the number of placed pods of the rule, Pending that of all pending pods that it selects, Running that
	// of selected running pods by domain.
	Placed, Pending int64
	Running         []int64
	// Counts are the domains that are in the minimum of every plan.
	Counts []bool
}

// Bounds are the least and the most pods of the rule in each domain, of every plan that places all of them.
//
// From above: when the last pod of the rule binds in a domain, the domain has at most the skew more than any counted
// domain, and all domains together have at most the running and pending pods.
//
// From below: in the end a domain has at most the skew more than the emptiest one. If all pods of the rule are placed,
// the emptiest domain must have enough that the other ones take the rest. Selected pods that are not of the rule may
// stand in for its pods. E.g. 10 pods with skew 1 in 3 empty zones are 3 or 4 in each.
func (s *DomainSpread) Bounds() (least, most []int64) {
	least, most = make([]int64, len(s.Running)), make([]int64, len(s.Running))
	floor := s.floor()
	for z, n := range s.Running {
		if s.Apart {
			most[z] = min(s.Placed, max(0, 1-n))
			continue
		}
		most[z] = min(s.Placed, max(0, s.ceiling(z)-n))
		if s.Counts[z] {
			least[z] = min(most[z], max(0, floor-n-(s.Pending-s.Placed)))
		}
	}
	s.tighten(least, most)
	return least, most
}

// tighten narrows the bounds of each domain by those of the other ones: all together must be Placed.
func (s *DomainSpread) tighten(least, most []int64) {
	atLeast, atMost := podspec.Sum(least), podspec.Sum(most)
	for z := range most {
		low, high := least[z], most[z]
		most[z] = max(low, min(high, s.Placed-(atLeast-low)))
		least[z] = min(most[z], max(low, s.Placed-(atMost-high)))
	}
}

// ceiling is the most selected pods in a domain when the last pod of the rule binds there.
func (s *DomainSpread) ceiling(domain int) int64 {
	all := s.Pending + s.Running[domain]
	for z, n := range s.Running {
		if z != domain && s.Counts[z] {
			all += n
		}
	}
	return largest(0, all, func(top int64) bool {
		sum := top
		for z, n := range s.Running {
			if z != domain && s.Counts[z] {
				sum += max(n, top-s.Skew)
			}
		}
		return sum <= all
	})
}

// floor is the least number of selected pods in the emptiest counted domain: one more than the largest number with which
// not all pods have a place.
func (s *DomainSpread) floor() int64 {
	low, some := int64(math.MaxInt64), false
	for z, n := range s.Running {
		if s.Counts[z] {
			low, some = min(low, n), true
		}
	}
	if !some {
		return 0
	}
	return largest(low, low+s.Placed, func(floor int64) bool { return floor == low || s.short(floor-1) })
}

// short reports whether pods of the rule are left over if the emptiest counted domain has floor pods: it and every other
// domain are filled up, the other ones to floor plus skew.
func (s *DomainSpread) short(floor int64) bool {
	sum := -s.Skew
	for _, n := range s.Running {
		sum += max(0, floor+s.Skew-n)
	}
	return sum < s.Placed
}

// largest is the last number of a range for which holds is true, by bisection. holds must be true for from, and for all
// numbers before one for which it is true.
func largest(from, to int64, holds func(int64) bool) int64 {
	for from < to {
		if at := to - (to-from)/2; holds(at) {
			from = at
		} else {
			to = at - 1
		}
	}
	return from
}
