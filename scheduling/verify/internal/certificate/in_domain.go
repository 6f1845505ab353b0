package certificate

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// spreadsOf returns the numbers of the spreads that count a pod.
func (pr *worthProof) spreadsOf(t *snapshot.Pod) []int {
	var out []int
	for i, z := range pr.spreads {
		if z.members[t.Name] {
			out = append(out, i)
		}
	}
	return out
}

// inDomain returns the proof with the worths of a domain. labelled is false for machines without the label: they have no pods
// with a spread constraint over domains.
func (pr *worthProof) inDomain(domain string, labelled bool) *worthProof {
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

// classesIn returns the class with its worth in a domain, as two classes where the certificate states another worth for
// further pods.
func (pr *worthProof) classesIn(s *podClass, domain string, labelled bool) []*podClass {
	out := []*podClass{s}
	for _, n := range s.spreads {
		z := pr.spreads[n]
		var next []*podClass
		for _, s := range out {
			switch {
			case !labelled:
				next = append(next, s.limitedTo(nil, 0))
			case z.further == nil:
				next = append(next, s.limitedTo(z.less[domain], z.most[domain]))
			default:
				next = append(next, s.limitedTo(z.less[domain], z.least[domain]),
					s.limitedTo(z.further[domain], min(z.beyond(), z.most[domain]-z.least[domain])))
			}
		}
		out = next
	}
	return out
}

// limitedTo returns the class with at most so many pods, each worth less by the amount; nil is 0.
func (s *podClass) limitedTo(less *big.Int, most int64) *podClass {
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
