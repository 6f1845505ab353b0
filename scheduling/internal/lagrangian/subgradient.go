package lagrangian

import (
	"math"
	"math/bits"
	"slices"
)

// subgradient optimizes the pods' duals and the multipliers of rules for given class duals of the domains: the
// dual of a pod that no domain takes rises, and that of a pod that several take falls.
type subgradient struct {
	b          *Problem
	ruleGroups []ruleGroup
	counted    []float64 // by rule: number of pods that it counts
	pods       float64
	duals
	best        duals
	known       []*domainDuals
	newestShare float64     // first weight of the newest class duals
	classDuals  [][]float64 // by domain and class: the convex combination
	// taken is a moving average of the share of pods that a domain takes, by domain and index in Pods.
	taken [][]float64
	work  int64
	// scratch
	profits [][]float64
	takes   [][]float64
	from    []float64
	sums    [1 << mostRulesTogether]float64
}

// duals are the pods' duals and the multipliers of rules, by rule and domain. raised and lowered become
// Proof.Raised and Proof.Taken.
type duals struct {
	podDuals        []float64
	raised, lowered [][]float64
	// shares are the weights of known class duals, by domain.
	shares [][]float64
	value  float64
}

const (
	// mostSteps bounds the steps of a search. decay is the weight of the past in the moving average of each
	// step.
	mostSteps, decay = 300, 0.96
	// targetGain is the gain that a step aims at, as a share of the best value. After patience steps without
	// gain the step length is multiplied by stepShrink, down to leastPace.
	targetGain, patience, stepShrink, leastPace = 0.004, 12, 0.7, 0.01
	// mixRate is the step length of the weights of class duals, and leastPart the least weight.
	mixRate, leastPart = 500, 1e-4
)

func newSubgradient(b *Problem, ruleGroups []ruleGroup) *subgradient {
	s := &subgradient{b: b, ruleGroups: ruleGroups, counted: make([]float64, len(b.Rules))}
	for i := range b.Pods {
		s.pods += float64(b.Pods[i].Count)
		for _, r := range b.Pods[i].Counted {
			s.counted[r] += float64(b.Pods[i].Count)
		}
	}
	s.duals = duals{podDuals: make([]float64, len(b.Pods)), raised: grid(len(b.Rules), len(b.Domains)), lowered: grid(len(b.Rules), len(b.Domains)), shares: make([][]float64, len(b.Domains))}
	s.best.shares = make([][]float64, len(b.Domains))
	s.classDuals = grid(len(b.Domains), len(b.Domains[0].Classes))
	s.taken = grid(len(b.Domains), len(b.Pods))
	s.takes = grid(len(b.Domains), len(b.Pods))
	most := 0
	for t := range ruleGroups {
		most = max(most, len(ruleGroups[t].podGroups))
	}
	s.profits, s.from = grid(most, 1<<mostRulesCounting), make([]float64, len(b.Domains))
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
	out := duals{podDuals: slices.Clone(d.podDuals), value: d.value}
	for r := range d.raised {
		out.raised, out.lowered = append(out.raised, slices.Clone(d.raised[r])), append(out.lowered, slices.Clone(d.lowered[r]))
	}
	for z := range d.shares {
		out.shares = append(out.shares, slices.Clone(d.shares[z]))
	}
	return out
}

// search runs at most this many steps from the best duals, and leaves the best ones in s.best.
func (s *subgradient) search(steps int) {
	s.begin()
	held, counts := make([][]bool, len(s.b.Rules)), grid(len(s.b.Rules), len(s.b.Domains))
	for r := range held {
		held[r] = make([]bool, len(s.b.Domains))
	}
	pace, since := 1.0, 0
	for range steps {
		s.mixDuals()
		if s.value = s.evaluate(s.classDuals, held, counts) - s.surplus(); s.value > s.best.value {
			s.best, since = s.duals.copied(), 0
		} else if since++; since > patience {
			if pace, since = pace*stepShrink, 0; pace < leastPace {
				break
			}
		}
		for d := range s.taken {
			for f, n := range s.takes[d] {
				s.taken[d][f] = decay*s.taken[d][f] + (1-decay)*n
			}
		}
		if !s.step(pace*(s.best.value*(1+targetGain)-s.value), held, counts) {
			break
		}
	}
}

// begin continues from the best duals; at first, each pod's dual is its least class dual in any domain.
func (s *subgradient) begin() {
	if s.best.podDuals != nil {
		s.duals = s.best.copied()
		for d := range s.shares {
			for k := range s.shares[d] {
				s.shares[d][k] *= 1 - s.newestShare
			}
			s.shares[d][len(s.shares[d])-1] += s.newestShare
		}
		s.newestShare = 0
		return
	}
	s.newestShare = 0
	for d := range s.shares {
		s.shares[d] = []float64{1} // only one domainDuals is known yet
	}
	s.mixDuals()
	s.best.value = math.Inf(-1)
	for f := range s.b.Pods {
		least := math.Inf(1)
		for d := range s.b.Domains {
			least = min(least, s.classDuals[d][s.b.Pods[f].Class])
		}
		s.podDuals[f] = least
	}
}

// addDuals adds feasible class duals. The next search begins with this weight for them.
func (s *subgradient) addDuals(x *domainDuals, share float64) {
	s.known, s.newestShare = append(s.known, x), share
	for d := range s.best.shares {
		s.best.shares[d] = append(s.best.shares[d], 0)
	}
}

// mixDuals computes the convex combination of the known class duals.
func (s *subgradient) mixDuals() {
	for d := range s.classDuals {
		clear(s.classDuals[d])
		for k, share := range s.shares[d] {
			for c, w := range s.known[k].classDuals[d] {
				s.classDuals[d][c] += share * w
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

// evaluate solves each domain's subproblem and returns the value of the bound, with the held rules and counted
// pods by domain.
func (s *subgradient) evaluate(classDuals [][]float64, held [][]bool, counts [][]float64) (value float64) {
	for d := range s.b.Domains {
		clear(s.takes[d])
	}
	s.placeUnruled(classDuals)
	for f := range s.b.Pods {
		value += s.podDuals[f] * float64(s.b.Pods[f].Count)
	}
	for r := range s.b.Rules {
		for d, n := range s.b.Rules[r].Running {
			value -= s.raised[r][d] * float64(n)
			counts[r][d] = float64(n)
		}
	}
	for d := range s.b.Domains {
		for t := 1; t < len(s.ruleGroups); t++ {
			value -= s.mostProfit(&s.ruleGroups[t], d, classDuals[d], held, counts)
		}
	}
	return value
}

// placeUnruled puts pods without rules into the domain of their least class dual, and sets their dual to it.
func (s *subgradient) placeUnruled(classDuals [][]float64) {
	for k := range s.ruleGroups[0].podGroups {
		for _, f := range s.ruleGroups[0].podGroups[k].pods {
			at := 0
			for d := range s.b.Domains {
				if classDuals[d][s.b.Pods[f].Class] < classDuals[at][s.b.Pods[f].Class] {
					at = d
				}
			}
			s.podDuals[f] = classDuals[at][s.b.Pods[f].Class]
			s.takes[at][f] = 1
		}
	}
}

// mostProfit returns the most that a domain can keep of the pods of a rule group, and notes which pods give it.
func (s *subgradient) mostProfit(t *ruleGroup, d int, classDuals []float64, held [][]bool, counts [][]float64) float64 {
	for k := range t.podGroups {
		h := &t.podGroups[k]
		for own := range 1 << len(h.counted) {
			s.profits[k][own] = s.profit(t, h, d, own, classDuals, nil)
		}
	}
	best, most := 0, math.Inf(-1)
	sums := s.sums[:1<<len(t.rules)]
	for mask := range sums {
		sums[mask] = 0
		if mask > 0 { // the sum for the set without its lowest rule, plus that rule
			own := bits.TrailingZeros(uint(mask))
			r := t.rules[own]
			sums[mask] = sums[mask&(mask-1)] + s.lowered[r][d]*float64(s.b.Rules[r].Skew-s.b.Rules[r].Running[d])
		}
	}
	for k := range t.podGroups {
		rents := s.profits[k]
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
			s.profit(t, h, d, int(h.own[best]), classDuals, counts)
		}
	}
	return most
}

// profit returns the most that a domain keeps of a pod group's pods. If counts are given, it notes the pods and
// counts them.
func (s *subgradient) profit(t *ruleGroup, h *podGroup, d, own int, classDuals []float64, counts [][]float64) (sum float64) {
	more := 0.0
	for k, local := range h.counted {
		r := t.rules[local]
		more += s.raised[r][d]
		if own>>k&1 == 1 {
			more -= s.lowered[r][d]
		}
	}
	for _, i := range h.pods {
		f := &s.b.Pods[i]
		one := s.podDuals[i] - classDuals[f.Class] + more
		if one <= 0 {
			continue
		}
		sum += one * float64(f.Count)
		if counts != nil {
			s.takes[d][i] = 1
			for _, r := range f.Counted {
				counts[r][d] += float64(f.Count)
			}
		}
	}
	s.work += int64(len(h.pods))
	return sum
}
