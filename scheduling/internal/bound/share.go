package bound

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// spreadSearch finds duals for pods that are spread over domains in numbers that the plan decides. For given
// numbers, the assignment bound gives duals by kind and domain. Whatever the numbers are in a plan, the value
// of its pods is at least the value where as many of them as possible are in the domains of the lowest duals:
// the duals prove this value. Where it is less than the value at the numbers that the duals were optimized for,
// the search moves these numbers towards the ones of the least value.
type spreadSearch struct {
	a           *assignment
	usable      []float64   // by class: its pods, or 0 where no machine admits it
	counts      [][]float64 // by spread: pods by kind and domain, domain by domain
	best        *proposal
	multipliers []domainReductions
	value       float64
	chosen      []float64 // by class: the numbers that the best duals were optimized for
}

// domainReductions are the duals of a spread's kinds before reduction, and the reduction in each domain.
type domainReductions struct {
	duals []float64 // by kind
	less  []float64 // by domain
}

const (
	// spreadRounds bounds the numbers that are tried. spreadGap is the relative gap at which the search stops.
	// trace replaces a number of 0, because a class without demand would have an unbounded dual.
	spreadRounds = 4
	spreadGap    = 5e-4
	trace        = 1e-3
	// multiplierSteps bounds the subgradient steps for the multipliers that several kinds share.
	multiplierSteps = 60
)

// spreadBound is [Pattern] for a market with spreads.
func spreadBound(a *assignment, start []*big.Int, e Effort) Assigned {
	s := &spreadSearch{a: a, usable: slices.Clone(a.scaled.demand), value: math.Inf(-1)}
	a.spread = s
	s.begin()
	for round := 1; round <= spreadRounds && !a.late(); round++ {
		s.spreadDemand()
		a.best = nil
		a.search(start, Effort{Work: e.Work})
		next, multipliers := s.proven(a.best)
		if next > s.value {
			s.best, s.multipliers, s.value = a.best, multipliers, next
			s.chosen = slices.Clone(s.a.scaled.demand)
		}
		if s.value >= a.best.value*(1-spreadGap) {
			break
		}
		s.move(1 / float64(round+1))
	}
	out := s.certify()
	if s.chosen != nil {
		s.a.scaled.demand = s.chosen
	}
	out.rest = a
	return out
}

// begin starts with as many pods as possible in the domains where one pod alone costs least.
func (s *spreadSearch) begin() {
	sellers := s.a.scaled.buyableOf()
	for i := range s.a.scaled.exact.Spreads {
		x := &s.a.scaled.exact.Spreads[i]
		domains := len(x.Most)
		costs := make([]float64, domains)
		for k := range x.Kinds {
			for d, c := range x.Kinds[k].Parts {
				least := math.Inf(1)
				for _, m := range sellers[c] {
					share := 0.0
					for e, n := range s.a.scaled.size(c) {
						share = max(share, n/s.a.scaled.cap(m)[e])
					}
					least = min(least, share*s.a.scaled.prices[m])
				}
				if s.usable[c] == 0 || math.IsInf(least, 1) {
					least = 1 // more than a whole machine of the dearest
				}
				costs[d] += least * float64(x.Kinds[k].Count)
			}
		}
		filled := x.fill(orderOf(domains, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) }))
		counts := make([]float64, len(x.Kinds)*domains)
		total := float64(x.total())
		for k := range x.Kinds {
			for d, n := range filled {
				counts[k*domains+d] = float64(x.Kinds[k].Count) * float64(n) / total
			}
		}
		s.counts = append(s.counts, counts)
	}
}

// spreadDemand sets the demand of the parts to the present numbers.
func (s *spreadSearch) spreadDemand() {
	for i := range s.a.scaled.exact.Spreads {
		x := &s.a.scaled.exact.Spreads[i]
		for k := range x.Kinds {
			for d, c := range x.Kinds[k].Parts {
				if s.usable[c] > 0 {
					s.a.scaled.demand[c] = max(trace, s.counts[i][k*len(x.Most)+d])
				}
			}
		}
	}
}

// proven returns the value that duals prove for all numbers of pods by domain, with the multipliers that show
// it.
func (s *spreadSearch) proven(p *proposal) (float64, []domainReductions) {
	value := p.value
	multipliers := make([]domainReductions, len(s.a.scaled.exact.Spreads))
	for i := range s.a.scaled.exact.Spreads {
		x := &s.a.scaled.exact.Spreads[i]
		for k := range x.Kinds {
			for _, c := range x.Kinds[k].Parts {
				value -= s.a.scaled.demand[c] * p.duals[c]
			}
		}
		own := 0.0
		multipliers[i], own = s.multipliersOf(x, p.duals)
		value += own
	}
	return value, multipliers
}

// multipliersOf finds the multipliers that maximize the proven value of a spread's pods: exactly for one kind,
// by a subgradient method for several.
func (s *spreadSearch) multipliersOf(x *Spread, duals []float64) (best domainReductions, value float64) {
	domains := len(x.Most)
	less, weight := make([]float64, domains), 0.0
	for k := range x.Kinds { // the average reduction of the duals
		kind := &x.Kinds[k]
		most := s.dearestPart(kind, duals)
		weight += float64(kind.Count)
		for d, c := range kind.Parts {
			if s.usable[c] > 0 {
				less[d] += (most - duals[c]) * float64(kind.Count)
			}
		}
	}
	for d := range less {
		less[d] /= weight
	}
	best, value = s.valueAt(x, duals, less)
	if len(x.Kinds) == 1 {
		return best, value
	}
	step := slices.Max(less) - slices.Min(less)
	for n := 1; n <= multiplierSteps; n++ {
		// A multiplier is too high where the domain attracts fewer pods than it may hold.
		_, may := x.dearestOf(less)
		wanted := make([]float64, domains)
		for k := range x.Kinds {
			at, low := 0, math.Inf(1)
			for d, c := range x.Kinds[k].Parts {
				if w := duals[c] + less[d]; s.usable[c] > 0 && w < low {
					at, low = d, w
				}
			}
			wanted[at] += float64(x.Kinds[k].Count)
		}
		next := slices.Clone(less)
		for d := range next {
			next[d] += step / float64(n) * (wanted[d] - float64(may[d])) / weight
		}
		low := slices.Min(next)
		for d := range next {
			next[d] -= low
		}
		less = next
		if t, v := s.valueAt(x, duals, less); v > value {
			best, value = t, v
		}
	}
	return best, value
}

// dearestPart returns the largest dual of a kind in any domain.
func (s *spreadSearch) dearestPart(k *Kind, duals []float64) (most float64) {
	for _, c := range k.Parts {
		if s.usable[c] > 0 {
			most = max(most, duals[c])
		}
	}
	return most
}

// valueAt returns the proven value of a spread's pods by given multipliers.
func (s *spreadSearch) valueAt(x *Spread, duals, less []float64) (t domainReductions, value float64) {
	t.less = slices.Clone(less)
	for k := range x.Kinds {
		w := math.Inf(1)
		for d, c := range x.Kinds[k].Parts {
			if s.usable[c] > 0 {
				w = min(w, duals[c]+less[d])
			}
		}
		if math.IsInf(w, 1) {
			w = 0
		}
		t.duals = append(t.duals, w)
		value += w * float64(x.Kinds[k].Count)
	}
	most, _ := x.dearestOf(less)
	return t, value - most
}

// move moves the numbers a part of the way to those of the least proven value.
func (s *spreadSearch) move(part float64) {
	_, multipliers := s.proven(s.a.best)
	for i := range s.a.scaled.exact.Spreads {
		x := &s.a.scaled.exact.Spreads[i]
		domains := len(x.Most)
		_, filled := x.dearestOf(multipliers[i].less)
		total := float64(x.total())
		for k := range x.Kinds {
			for d, n := range filled {
				at := &s.counts[i][k*domains+d]
				*at += part * (float64(x.Kinds[k].Count)*float64(n)/total - *at)
			}
		}
	}
}

// certify proves the best duals with their multipliers in whole numbers.
func (s *spreadSearch) certify() Assigned {
	if s.best == nil || !(s.value > 0) {
		return Assigned{}
	}
	s.a.best = s.best
	return s.a.certified(s.whole)
}

// wholeReductions are domainReductions in whole numbers.
type wholeReductions struct {
	*Spread
	duals, less []*big.Int
}

// whole rounds multipliers so that the dual of a kind minus the multiplier is at most its part's dual in every
// domain.
func (s *spreadSearch) whole(c *wholeProof, factor float64) []wholeReductions {
	out := make([]wholeReductions, len(s.a.scaled.exact.Spreads))
	for i := range s.a.scaled.exact.Spreads {
		x := &s.a.scaled.exact.Spreads[i]
		t := wholeReductions{Spread: x}
		for d := range x.Most {
			less := fixed.Of(s.multipliers[i].less[d] * s.a.scaled.price * factor)
			t.less = append(t.less, less.Big())
		}
		if own := &x.Kinds[0]; len(x.Kinds) == 1 {
			most := new(big.Int)
			for _, part := range own.Parts {
				if w := c.duals[part].Big(); s.usable[part] > 0 && w.Cmp(most) > 0 {
					most = w
				}
			}
			for d, part := range own.Parts {
				t.less[d] = new(big.Int)
				if s.usable[part] > 0 {
					t.less[d].Sub(most, c.duals[part].Big())
				}
			}
		}
		for k := range x.Kinds {
			var least *big.Int
			for d, part := range x.Kinds[k].Parts {
				if w := new(big.Int).Add(c.duals[part].Big(), t.less[d]); s.usable[part] > 0 && (least == nil || w.Cmp(least) < 0) {
					least = w
				}
			}
			if least == nil {
				least = new(big.Int)
			}
			t.duals = append(t.duals, least)
		}
		out[i] = t
	}
	return out
}

// addTo adds the proven value of a spread's pods.
func (t *wholeReductions) addTo(total *big.Int) {
	for k := range t.Kinds {
		total.Add(total, new(big.Int).Mul(t.duals[k], big.NewInt(t.Kinds[k].Count)))
	}
	total.Sub(total, t.dearest(t.less))
}
