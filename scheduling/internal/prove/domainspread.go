package prove

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// DomainSpread is what decides how many pods of a spread over domains may be where, or of those that
// keep apart there: of these a domain has one, or none where any runs.
type DomainSpread struct {
	Skew  int64
	Apart bool
	// placed is the number of pods of the rule, pending that of all that wait and count for
	// it, running by domain those that run.
	Placed, Pending int64
	Running         []int64
	// counts says of which domains every plan takes the minimum.
	Counts []bool
}

// Bounds are the least and the most pods of the rule that may be in each domain.
//
// When the last of them binds in a domain, that has at most skew pods more than any domain that
// counts, and all domains together have no more than run and wait. That bounds it from
// above.
//
// Domains have at most skew pods of the rule more than the emptiest one has in the end. So
// if all pods of the rule have a place, the emptiest one has so many that the others are
// enough for the rest. That bounds each from below, but for pods that count and are not
// of the rule: those may be there instead.
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

// tighten lets each domain have what the others leave to it.
func (s *DomainSpread) tighten(least, most []int64) {
	atLeast, atMost := podspec.Sum(least), podspec.Sum(most)
	for z := range most {
		low, high := least[z], most[z]
		most[z] = max(low, min(high, s.Placed-(atLeast-low)))
		least[z] = min(most[z], max(low, s.Placed-(atMost-high)))
	}
}

// ceiling is the most pods that a domain has when the last of the rule binds there.
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

// floor is how many pods the emptiest domain that counts has at least: one more than the
// largest number with which there is no place for all.
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

// short reports whether pods of the rule are left over if the emptiest domain that counts
// has so many pods, which is no more than the others have: the rule's are those in it, and
// up to so many and the skew in every other.
func (s *DomainSpread) short(floor int64) bool {
	sum := -s.Skew
	for _, n := range s.Running {
		sum += max(0, floor+s.Skew-n)
	}
	return sum < s.Placed
}

// largest is the last number of a range for which something holds; it does of the first,
// and of all before one of which it does.
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
