package topology

import "math/rand/v2"

// shape bounds a random problem.
type shape struct {
	pods, classes, places, rules, bins int
	preferences                        bool
}

// place is a physical site: the values of two keys, shared by all classes.
type place struct {
	values [2]int32
	cost   int64
	bins   []int32
}

// randomProblem draws a problem as a cluster would pose it: classes share places, rules
// are over one of two keys, and some nodes lack a key.
func randomProblem(rng *rand.Rand, b shape) *Problem {
	p := &Problem{Dims: 1, Priced: rng.IntN(2) == 0}
	places := make([]place, min(b.places, 1+rng.IntN(b.places+1)))
	for i := range places {
		places[i] = place{values: [2]int32{int32(i), int32(rng.IntN(2))}, cost: int64(10 + rng.IntN(3))}
		if rng.IntN(12) == 0 {
			places[i].values[rng.IntN(2)] = None
		}
		if rng.IntN(8) == 0 {
			places[i].cost = Nowhere
		}
	}
	for range rng.IntN(b.bins + 1) {
		at := rng.IntN(len(places))
		places[at].bins = append(places[at].bins, int32(len(p.Bins)))
		p.Bins = append(p.Bins, []int64{int64(1 + rng.IntN(4))})
	}
	keys := make([]int, 1+rng.IntN(b.rules))
	for r := range keys {
		keys[r] = min(1, rng.IntN(4)/3)
		p.Rules = append(p.Rules, randomRule(rng, b, len(places)))
	}
	pods := b.pods - rng.IntN(b.pods/2+1)
	for range min(pods, 2+rng.IntN(b.classes-1)) {
		n := 1
		if len(p.Classes) > 0 || pods > 1 {
			n = 1 + rng.IntN(max(1, pods/2))
		}
		if n > pods {
			break
		}
		pods -= n
		p.Classes = append(p.Classes, randomClass(rng, p, keys, places, int64(n)))
	}
	return p
}

func randomRule(rng *rand.Rand, b shape, domains int) Rule {
	rule := Rule{Kind: Kind(rng.IntN(3)), Domains: make([]Domain, max(2, domains))}
	if rule.Kind == Spread {
		rule.Max = int64(1 + rng.IntN(2))
		rule.MinDomains = int64(max(0, rng.IntN(8)-4))
	}
	if b.preferences && rng.IntN(4) == 0 {
		rule.Weight = int64(1 + rng.IntN(5))
	}
	runs := rng.IntN(3) == 0
	for d := range rule.Domains {
		rule.Domains[d].Eligible = rule.Kind == Spread && rng.IntN(3) == 0
		if !runs {
			continue
		}
		if rule.Kind != Spread || rule.Domains[d].Eligible {
			rule.Domains[d].Count = int64(max(0, rng.IntN(5)-2))
		}
		if rule.Kind == Anti && rng.IntN(4) == 0 {
			rule.Domains[d].Holders = 1
		}
		rule.Total += rule.Domains[d].Count
	}
	return rule
}

func randomClass(rng *rand.Rand, p *Problem, keys []int, places []place, n int64) Class {
	class := Class{Count: n, Priority: int32(rng.IntN(4) / 3), Request: []int64{int64(1 + rng.IntN(2))}}
	for r := range p.Rules {
		link := Link{Rule: int32(r), Holds: rng.IntN(2) == 0, Counts: int64(rng.IntN(2))}
		if link.Holds || link.Counts > 0 {
			class.Links = append(class.Links, link)
		}
	}
	for i := range places {
		if len(places) > 1 && rng.IntN(4) == 0 {
			continue
		}
		at := &places[i]
		site := Site{Cost: at.cost, Bins: at.bins, Limit: -1}
		if rng.IntN(6) == 0 {
			site.Limit = int64(rng.IntN(3))
		}
		if rng.IntN(5) == 0 {
			site.Penalty = int64(rng.IntN(4))
		}
		for _, link := range class.Links {
			site.Domains = append(site.Domains, at.values[keys[link.Rule]])
			site.Counted = append(site.Counted, p.Rules[link.Rule].Kind != Spread || link.Holds || rng.IntN(6) > 0)
		}
		class.Sites = append(class.Sites, site)
	}
	return class
}
