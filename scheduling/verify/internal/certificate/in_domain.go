package certificate

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// spreadsOf returns the numbers of the spreads that count a pod.
func (pr *proof) spreadsOf(t *snapshot.Pod) []int {
	var out []int
	for i, z := range pr.spreads {
		if z.members[t.Name] {
			out = append(out, i)
		}
	}
	return out
}

// in returns the proof with the worths of a domain. In a domain without the label there are no pods that a spread
// constraint concerns.
func (pr *proof) in(domain string, labelled bool) *proof {
	if len(pr.spreads) == 0 && !pr.byDomain {
		return pr
	}
	key := domain
	if !labelled {
		key = snapshot.UnknownHost
	}
	if x := pr.domains[key]; x != nil {
		return x
	}
	x, bound := *pr, *pr.bound
	x.bound, x.known = &bound, make(map[string]*threshold)
	bound.classes = nil
	for _, s := range pr.bound.classes {
		bound.classes = append(bound.classes, pr.classesIn(s, domain, labelled)...)
	}
	bound.evaluate()
	pr.domains[key] = &x
	return &x
}

// classesIn is a class as it is in a domain: two where some of its pods are worth more than those
// beyond them.
func (pr *proof) classesIn(s *podClass, domain string, labelled bool) []*podClass {
	out := []*podClass{s}
	for _, n := range s.spreads {
		z := pr.spreads[n]
		var next []*podClass
		for _, s := range out {
			switch {
			case !labelled:
				next = append(next, s.fewer(nil, 0))
			case z.further == nil:
				next = append(next, s.fewer(z.less[domain], z.most[domain]))
			default:
				next = append(next, s.fewer(z.less[domain], z.least[domain]),
					s.fewer(z.further[domain], min(z.beyond(), z.most[domain]-z.least[domain])))
			}
		}
		out = next
	}
	return out
}

// fewer is the class with so many pods at most, worth so much less.
func (s *podClass) fewer(less *big.Int, most int64) *podClass {
	own := *s
	if less != nil {
		if own.worth = new(big.Int).Sub(own.worth, less); own.worth.Sign() < 0 {
			own.worth = new(big.Int)
		}
	}
	if !own.limited || most < own.most {
		own.limited, own.most = true, most
	}
	return &own
}
