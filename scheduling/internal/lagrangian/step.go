package lagrangian

// eager is how fast what is raised and taken changes beside what pods pay.
const eager = 25

// step changes the duals such that, were the value linear, it would gain so much. It reports
// false where nothing is to be gained.
func (s *subgradient) step(gain float64, held [][]bool, counts [][]float64) bool {
	norm := 0.0
	for f := range s.Pods {
		missing := 1.0
		for d := range s.now {
			missing -= s.now[d][f]
		}
		norm += missing * missing * float64(s.Pods[f].Count)
	}
	for r := range s.Rules {
		if s.counted[r] == 0 {
			continue
		}
		mean := 0.0
		for _, n := range counts[r] {
			mean += n / float64(len(counts[r]))
		}
		for _, n := range counts[r] {
			norm += (n - mean) * (n - mean) * eager / s.counted[r] / 2
		}
	}
	gains, spread := s.gains()
	weight := float64(quick) * s.pods / (s.best.value * s.best.value)
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
	for f := range s.Pods {
		missing := 1.0
		for d := range s.now {
			missing -= s.now[d][f]
		}
		s.pays[f] = max(0, s.pays[f]+size*missing)
	}
	for r := range s.Rules {
		if s.counted[r] > 0 {
			s.stepRule(r, size*eager/s.counted[r], held[r], counts[r])
		}
	}
	return true
}

// stepRule changes what is raised and taken, by a level for all domains at which no more
// is taken than raised.
func (s *subgradient) stepRule(r int, size float64, held []bool, counts []float64) {
	x := &s.Rules[r]
	raised, taken := s.raised[r], s.stake[r]
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

// gains are what the worths that are known would come to in each domain for the pods that it
// takes, beside what their mixture does, and by how much they differ in all.
func (s *subgradient) gains() (out [][]float64, spread float64) {
	out = make([][]float64, len(s.Domains))
	numbers := make([]float64, len(s.Domains[0].Classes))
	for d := range s.Domains {
		clear(numbers)
		for f, n := range s.now[d] {
			numbers[s.Pods[f].Class] += n * float64(s.Pods[f].Count)
		}
		mean := 0.0
		for k, x := range s.known {
			out[d] = append(out[d], dot(x.worths[d], numbers)-x.parts[d].Surplus)
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
