package lagrangian

// ruleRate is the step length of the multipliers of rules, relative to that of the pods' duals.
const ruleRate = 25

// step changes the duals so that the value would grow by gain if it were linear. It reports false where the
// subgradient is 0.
func (s *subgradient) step(gain float64, held [][]bool, counts [][]float64) bool {
	norm := 0.0
	for f := range s.b.Pods {
		missing := 1.0
		for d := range s.takes {
			missing -= s.takes[d][f]
		}
		norm += missing * missing * float64(s.b.Pods[f].Count)
	}
	for r := range s.b.Rules {
		if s.counted[r] == 0 {
			continue
		}
		mean := 0.0
		for _, n := range counts[r] {
			mean += n / float64(len(counts[r]))
		}
		for _, n := range counts[r] {
			norm += (n - mean) * (n - mean) * ruleRate / s.counted[r] / 2
		}
	}
	gains, spread := s.gains()
	weight := float64(mixRate) * s.pods / (s.best.value * s.best.value)
	norm += weight * spread
	if norm == 0 {
		return false
	}
	size := gain / norm
	for d := range gains {
		sum := 0.0
		for k, g := range gains[d] {
			share := &s.shares[d][k]
			*share = max(leastPart, *share*(1+max(-0.5, min(0.5, size*weight*g))))
			sum += *share
		}
		for k := range s.shares[d] {
			s.shares[d][k] /= sum
		}
	}
	for f := range s.b.Pods {
		missing := 1.0
		for d := range s.takes {
			missing -= s.takes[d][f]
		}
		s.podDuals[f] = max(0, s.podDuals[f]+size*missing)
	}
	for r := range s.b.Rules {
		if s.counted[r] > 0 {
			s.stepRule(r, size*ruleRate/s.counted[r], held[r], counts[r])
		}
	}
	return true
}

// stepRule changes the multipliers of a rule. It projects them onto the feasible set, where Taken sums to at
// most Raised, by bisection on a common level of counted pods.
func (s *subgradient) stepRule(r int, size float64, held []bool, counts []float64) {
	x := &s.b.Rules[r]
	raised, taken := s.raised[r], s.lowered[r]
	at := func(level float64, d int) (up, down float64) {
		if x.Level[d] {
			up = max(0, raised[d]+size*(level-counts[d]))
		}
		if down = taken[d]; held[d] {
			down = max(0, taken[d]+size*(counts[d]-float64(x.Skew)-level))
		}
		return up, down
	}
	over := func(level float64) (sum float64) {
		for d := range counts {
			up, down := at(level, d)
			sum += up - down
		}
		return sum
	}
	low, high := 0.0, 1.0
	for over(high) < 0 && high < 1e12 {
		high *= 4
	}
	for range 30 {
		if middle := (low + high) / 2; over(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	for d := range counts {
		s.from[d], taken[d] = at(high, d)
	}
	copy(raised, s.from)
}

// gains returns, by domain, the value of each known class dual vector for the pods that the domain takes,
// beyond that of the convex combination, and the weighted sum of squares.
func (s *subgradient) gains() (out [][]float64, spread float64) {
	out = make([][]float64, len(s.b.Domains))
	numbers := make([]float64, len(s.b.Domains[0].Classes))
	for d := range s.b.Domains {
		clear(numbers)
		for f, n := range s.takes[d] {
			numbers[s.b.Pods[f].Class] += n * float64(s.b.Pods[f].Count)
		}
		mean := 0.0
		for k, x := range s.known {
			out[d] = append(out[d], dot(x.classDuals[d], numbers)-x.parts[d].Surplus)
			mean += s.shares[d][k] * out[d][k]
		}
		for k := range out[d] {
			out[d][k] -= mean
			spread += s.shares[d][k] * out[d][k] * out[d][k]
		}
	}
	return out, spread
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
