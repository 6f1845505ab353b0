package bound

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// shares is the search for worths of pods that are spread over domains, of which it is
// not given how many are where. For any numbers that are allowed, the assignment bound
// gives worths by kind and domain. Whatever the numbers are in a plan, its pods are worth
// no less than when most of them are where they are worth least: that is what the worths
// prove. Where it is less than they are worth by the numbers that they were sought for,
// others are tried, part of the way towards those.
type shares struct {
	*assignment
	usable      []float64   // by class: its pods, or 0 where no machine takes them
	counts      [][]float64 // by spread: pods by kind and domain, domain by domain
	best        *proposal
	multipliers []domainReductions
	value       float64
	chosen      []float64 // by class, the numbers that the best worths were sought for
}

// domainReductions is what pods of a spread are worth less, by domain, than what they are worth at
// most, by kind.
type domainReductions struct {
	worths []float64 // by kind
	less   []float64 // by domain
}

const (
	// spreadRounds bounds how often numbers are tried, spreadGap is the share of the bound
	// at which to stop, and trace the number of pods that stands for none: what nobody
	// wants would be worth anything.
	spreadRounds = 4
	spreadGap    = 5e-4
	trace        = 1e-3
	// multiplierSteps bounds the search for multipliers that several kinds have in common.
	multiplierSteps = 60
)

// spread finds worths for a market with spreads.
func (a *assignment) spread(start []*big.Int, e Effort) Assigned {
	s := &shares{assignment: a, usable: slices.Clone(a.demand), value: math.Inf(-1)}
	a.shares = s
	s.begin()
	for round := 1; round <= spreadRounds && !a.late(); round++ {
		s.spreadDemand()
		a.best = nil
		a.search(start, Effort{Work: e.Work})
		next, multipliers := s.proven(a.best)
		if next > s.value {
			s.best, s.multipliers, s.value = a.best, multipliers, next
			s.chosen = slices.Clone(s.demand)
		}
		if s.value >= a.best.value*(1-spreadGap) {
			break
		}
		s.move(1 / float64(round+1))
	}
	out := s.certify()
	if s.chosen != nil {
		s.demand = s.chosen
	}
	out.rest = a
	return out
}

// begin puts pods where one of them alone costs least, as far as that may be.
func (s *shares) begin() {
	sellers := s.usersOf()
	for i := range s.market.Spreads {
		x := &s.market.Spreads[i]
		domains := len(x.Most)
		costs := make([]float64, domains)
		for k := range x.Kinds {
			for d, c := range x.Kinds[k].Parts {
				least := math.Inf(1)
				for _, m := range sellers[c] {
					share := 0.0
					for e, n := range s.size(c) {
						share = max(share, n/s.cap(m)[e])
					}
					least = min(least, share*s.prices[m])
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

// spreadDemand states the numbers as the demand.
func (s *shares) spreadDemand() {
	for i := range s.market.Spreads {
		x := &s.market.Spreads[i]
		for k := range x.Kinds {
			for d, c := range x.Kinds[k].Parts {
				if s.usable[c] > 0 {
					s.demand[c] = max(trace, s.counts[i][k*len(x.Most)+d])
				}
			}
		}
	}
}

// proven is what worths prove wherever the pods are, with the multipliers that show it.
func (s *shares) proven(p *proposal) (float64, []domainReductions) {
	value := p.value
	multipliers := make([]domainReductions, len(s.market.Spreads))
	for i := range s.market.Spreads {
		x := &s.market.Spreads[i]
		for k := range x.Kinds {
			for _, c := range x.Kinds[k].Parts {
				value -= s.demand[c] * p.worths[c]
			}
		}
		own := 0.0
		multipliers[i], own = s.multipliersOf(x, p.worths)
		value += own
	}
	return value, multipliers
}

// multipliersOf finds the multipliers by which the pods of a spread are worth most, wherever they are.
func (s *shares) multipliersOf(x *Spread, worths []float64) (best domainReductions, value float64) {
	domains := len(x.Most)
	less, weight := make([]float64, domains), 0.0
	for k := range x.Kinds { // what they are worth less on average
		kind := &x.Kinds[k]
		most := s.dearestPart(kind, worths)
		weight += float64(kind.Count)
		for d, c := range kind.Parts {
			if s.usable[c] > 0 {
				less[d] += (most - worths[c]) * float64(kind.Count)
			}
		}
	}
	for d := range less {
		less[d] /= weight
	}
	best, value = s.valueAt(x, worths, less)
	if len(x.Kinds) == 1 {
		return best, value
	}
	step := slices.Max(less) - slices.Min(less)
	for n := 1; n <= multiplierSteps; n++ {
		// Where fewer want to be than may be, multipliers are too high.
		_, may := x.dearestOf(less)
		wanted := make([]float64, domains)
		for k := range x.Kinds {
			at, low := 0, math.Inf(1)
			for d, c := range x.Kinds[k].Parts {
				if w := worths[c] + less[d]; s.usable[c] > 0 && w < low {
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
		if t, v := s.valueAt(x, worths, less); v > value {
			best, value = t, v
		}
	}
	return best, value
}

// dearestPart is what a kind is worth at most in any domain.
func (s *shares) dearestPart(k *Kind, worths []float64) (most float64) {
	for _, c := range k.Parts {
		if s.usable[c] > 0 {
			most = max(most, worths[c])
		}
	}
	return most
}

// valueAt is what the pods of a spread are worth by some multipliers.
func (s *shares) valueAt(x *Spread, worths, less []float64) (t domainReductions, value float64) {
	t.less = slices.Clone(less)
	for k := range x.Kinds {
		w := math.Inf(1)
		for d, c := range x.Kinds[k].Parts {
			if s.usable[c] > 0 {
				w = min(w, worths[c]+less[d])
			}
		}
		if math.IsInf(w, 1) {
			w = 0
		}
		t.worths = append(t.worths, w)
		value += w * float64(x.Kinds[k].Count)
	}
	most, _ := x.dearestOf(less)
	return t, value - most
}

// move goes a part of the way to the numbers by which the worths prove least.
func (s *shares) move(part float64) {
	_, multipliers := s.proven(s.assignment.best)
	for i := range s.market.Spreads {
		x := &s.market.Spreads[i]
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

// certify is the same in whole numbers.
func (s *shares) certify() Assigned {
	if s.best == nil || !(s.value > 0) {
		return Assigned{}
	}
	s.assignment.best = s.best
	return s.certified(s.whole)
}

// wholeReductions are domainReductions in whole numbers.
type wholeReductions struct {
	*Spread
	worths, less []*big.Int
}

// whole turns multipliers into whole numbers, such that no kind is worth more in any domain than
// its part there.
func (s *shares) whole(c *rounding, factor float64) []wholeReductions {
	out := make([]wholeReductions, len(s.market.Spreads))
	for i := range s.market.Spreads {
		x := &s.market.Spreads[i]
		t := wholeReductions{Spread: x}
		for d := range x.Most {
			less := fixed.Of(s.multipliers[i].less[d] * s.price * factor)
			t.less = append(t.less, less.Big())
		}
		if own := &x.Kinds[0]; len(x.Kinds) == 1 {
			most := new(big.Int)
			for _, part := range own.Parts {
				if w := c.worths[part].Big(); s.usable[part] > 0 && w.Cmp(most) > 0 {
					most = w
				}
			}
			for d, part := range own.Parts {
				t.less[d] = new(big.Int)
				if s.usable[part] > 0 {
					t.less[d].Sub(most, c.worths[part].Big())
				}
			}
		}
		for k := range x.Kinds {
			var least *big.Int
			for d, part := range x.Kinds[k].Parts {
				if w := new(big.Int).Add(c.worths[part].Big(), t.less[d]); s.usable[part] > 0 && (least == nil || w.Cmp(least) < 0) {
					least = w
				}
			}
			if least == nil {
				least = new(big.Int)
			}
			t.worths = append(t.worths, least)
		}
		out[i] = t
	}
	return out
}

// addTo adds what the pods are worth wherever they are, less what the parts count for.
func (t *wholeReductions) addTo(total *big.Int) {
	for k := range t.Kinds {
		total.Add(total, new(big.Int).Mul(t.worths[k], big.NewInt(t.Kinds[k].Count)))
	}
	total.Sub(total, t.dearest(t.less))
}
