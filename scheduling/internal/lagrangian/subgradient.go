package lagrangian

import (
	"math"
	"math/bits"
	"slices"
)

// subgradient looks for what pods pay wherever they are, and for what is raised and taken, by
// given worths in the domains. It follows subgradients: a pod that no domain takes pays
// more, and one that several take pays less.
type subgradient struct {
	*Problem
	ruleGroups []ruleGroup
	counted    []float64 // by rule: pods
	pods       float64
	duals
	best   duals
	known  []*domainDuals
	fresh  float64     // share of the last one at first
	worths [][]float64 // by domain and class
	// taken is how much of the pods every domain took of late, by domain.
	taken [][]float64
	work  int64
	// scratch
	rents [][]float64
	now   [][]float64
	from  []float64
	sums  [1 << mostRulesTogether]float64
}

// duals are what pods pay, and what is raised and taken by rule and domain.
type duals struct {
	pays          []float64
	raised, stake [][]float64
	// shares are those of worths that are known, by domain.
	shares [][]float64
	value  float64
}

const (
	// mostSteps is how many steps a search takes, and memory the share of what was taken
	// before that counts in each.
	mostSteps, memory = 300, 0.96
	// hopeful is by how much more than the best value a step aims at, as a share of it, and
	// tired after how many steps without gain steps become shorter, by the factor of rest.
	hopeful, tired, rest, slowest = 0.004, 12, 0.7, 0.01
	// quick is how fast the mixture of worths does, and leastPart the least share of any.
	quick, leastPart = 500, 1e-4
)

func newSubgradient(b *Problem, ruleGroups []ruleGroup) *subgradient {
	s := &subgradient{Problem: b, ruleGroups: ruleGroups, counted: make([]float64, len(b.Rules))}
	for i := range b.Pods {
		s.pods += float64(b.Pods[i].Count)
		for _, r := range b.Pods[i].Counted {
			s.counted[r] += float64(b.Pods[i].Count)
		}
	}
	s.duals = duals{pays: make([]float64, len(b.Pods)), raised: grid(len(b.Rules), len(b.Domains)), stake: grid(len(b.Rules), len(b.Domains)), shares: make([][]float64, len(b.Domains))}
	s.best.shares = make([][]float64, len(b.Domains))
	s.worths = grid(len(b.Domains), len(b.Domains[0].Classes))
	s.taken = grid(len(b.Domains), len(b.Pods))
	s.now = grid(len(b.Domains), len(b.Pods))
	most := 0
	for t := range ruleGroups {
		most = max(most, len(ruleGroups[t].podGroups))
	}
	s.rents, s.from = grid(most, 1<<mostRulesCounting), make([]float64, len(b.Domains))
	return s
}

func grid(rows, columns int) [][]float64 {
	out, all := make([][]float64, rows), make([]float64, rows*columns)
	for i := range out {
		out[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return out
}

func (d *duals) copied() duals {
	out := duals{pays: slices.Clone(d.pays), value: d.value}
	for r := range d.raised {
		out.raised, out.stake = append(out.raised, slices.Clone(d.raised[r])), append(out.stake, slices.Clone(d.stake[r]))
	}
	for z := range d.shares {
		out.shares = append(out.shares, slices.Clone(d.shares[z]))
	}
	return out
}

// search goes on from the best duals that it knows, for so many steps, and leaves the best
// ones in s.best.
func (s *subgradient) search(steps int) {
	s.begin()
	held, counts := make([][]bool, len(s.Rules)), grid(len(s.Rules), len(s.Domains))
	for r := range held {
		held[r] = make([]bool, len(s.Domains))
	}
	pace, since := 1.0, 0
	for range steps {
		s.mix()
		if s.value = s.evaluate(s.worths, held, counts) - s.surplus(); s.value > s.best.value {
			s.best, since = s.duals.copied(), 0
		} else if since++; since > tired {
			if pace, since = pace*rest, 0; pace < slowest {
				break
			}
		}
		for d := range s.taken {
			for f, n := range s.now[d] {
				s.taken[d][f] = memory*s.taken[d][f] + (1-memory)*n
			}
		}
		if !s.step(pace*(s.best.value*(1+hopeful)-s.value), held, counts) {
			break
		}
	}
}

// begin takes the best duals so far, or else what each pod is worth where it is worth least.
func (s *subgradient) begin() {
	if s.best.pays != nil {
		s.duals = s.best.copied()
		for d := range s.shares {
			for k := range s.shares[d] {
				s.shares[d][k] *= 1 - s.fresh
			}
			s.shares[d][len(s.shares[d])-1] += s.fresh
		}
		s.fresh = 0
		return
	}
	s.fresh = 0
	for d := range s.shares {
		s.shares[d] = []float64{1} // there is one domainDuals
	}
	s.mix()
	s.best.value = math.Inf(-1)
	for f := range s.Pods {
		least := math.Inf(1)
		for d := range s.Domains {
			least = min(least, s.worths[d][s.Pods[f].Class])
		}
		s.pays[f] = least
	}
}

// learn adds worths that the machines of each domain bear. The next search begins with a
// share of them.
func (s *subgradient) learn(x *domainDuals, share float64) {
	s.known, s.fresh = append(s.known, x), share
	for d := range s.best.shares {
		s.best.shares[d] = append(s.best.shares[d], 0)
	}
}

// mix blends the worths that are known.
func (s *subgradient) mix() {
	for d := range s.worths {
		clear(s.worths[d])
		for k, share := range s.shares[d] {
			for c, w := range s.known[k].worths[d] {
				s.worths[d][c] += share * w
			}
		}
	}
}

func (s *subgradient) surplus() (sum float64) {
	for d := range s.shares {
		for k, share := range s.shares[d] {
			sum += share * s.known[k].parts[d].Surplus
		}
	}
	return sum
}

// evaluate finds what each domain does, and what is proven then.
func (s *subgradient) evaluate(worths [][]float64, held [][]bool, counts [][]float64) (value float64) {
	for d := range s.Domains {
		clear(s.now[d])
	}
	s.loose(worths)
	for f := range s.Pods {
		value += s.pays[f] * float64(s.Pods[f].Count)
	}
	for r := range s.Rules {
		for d, n := range s.Rules[r].Running {
			value -= s.raised[r][d] * float64(n)
			counts[r][d] = float64(n)
		}
	}
	for d := range s.Domains {
		for t := 1; t < len(s.ruleGroups); t++ {
			value -= s.left(&s.ruleGroups[t], d, worths[d], held, counts)
		}
	}
	return value
}

// loose lets pods without rules be where they are worth least, and pay that.
func (s *subgradient) loose(worths [][]float64) {
	for k := range s.ruleGroups[0].podGroups {
		for _, f := range s.ruleGroups[0].podGroups[k].pods {
			at := 0
			for d := range s.Domains {
				if worths[d][s.Pods[f].Class] < worths[at][s.Pods[f].Class] {
					at = d
				}
			}
			s.pays[f] = worths[at][s.Pods[f].Class]
			s.now[at][f] = 1
		}
	}
}

// left is what is left to a domain of what the pods of a group of rules pay. It notes which it takes.
func (s *subgradient) left(t *ruleGroup, d int, worths []float64, held [][]bool, counts [][]float64) float64 {
	for k := range t.podGroups {
		h := &t.podGroups[k]
		for own := range 1 << len(h.counted) {
			s.rents[k][own] = s.rent(t, h, d, own, worths, nil)
		}
	}
	best, most := 0, math.Inf(-1)
	sums := s.sums[:1<<len(t.rules)]
	for mask := range sums {
		sums[mask] = 0
		if mask > 0 { // what it comes to without one of the rules
			own := bits.TrailingZeros(uint(mask))
			r := t.rules[own]
			sums[mask] = sums[mask&(mask-1)] + s.stake[r][d]*float64(s.Rules[r].Skew-s.Rules[r].Running[d])
		}
	}
	for k := range t.podGroups {
		rents := s.rents[k]
		for mask, own := range t.podGroups[k].own {
			if own >= 0 {
				sums[mask] += rents[own]
			}
		}
	}
	for mask, sum := range sums {
		if sum > most {
			best, most = mask, sum
		}
	}
	s.work += int64((len(t.podGroups) + len(t.rules)) << len(t.rules))
	for own, r := range t.rules {
		held[r][d] = best>>own&1 == 1
	}
	for k := range t.podGroups {
		if h := &t.podGroups[k]; h.own[best] >= 0 {
			s.rent(t, h, d, int(h.own[best]), worths, counts)
		}
	}
	return most
}

// rent is what a domain has of the pods of a group of pods; if counts are given it takes them.
func (s *subgradient) rent(t *ruleGroup, h *podGroup, d, own int, worths []float64, counts [][]float64) (sum float64) {
	more := 0.0
	for k, local := range h.counted {
		r := t.rules[local]
		more += s.raised[r][d]
		if own>>k&1 == 1 {
			more -= s.stake[r][d]
		}
	}
	for _, i := range h.pods {
		f := &s.Pods[i]
		one := s.pays[i] - worths[f.Class] + more
		if one <= 0 {
			continue
		}
		sum += one * float64(f.Count)
		if counts != nil {
			s.now[d][i] = 1
			for _, r := range f.Counted {
				counts[r][d] += float64(f.Count)
			}
		}
	}
	s.work += int64(len(h.pods))
	return sum
}
