package bound

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Spread bounds the number of pods in each of several domains: every plan has at least Least and at most Most
// pods of all kinds together there.
//
// Each kind has one class of the market in every domain, which stands for its pods in that domain: only
// machines of the domain may admit it, and its Count is the largest number of the kind's pods there.
type Spread struct {
	Kinds []Kind
	// Least and Most are numbers of pods by domain.
	Least, Most []int64
}

// Kind is equal pods of a [Spread].
type Kind struct {
	// Parts are the classes of the market, by domain.
	Parts []int
	Count int64
}

// soundSpreads reports whether all numbers are valid: no class is in two spreads, and the bounds of each admit
// all pods.
func (m *Market) soundSpreads() bool {
	taken := make([]bool, len(m.Classes))
	for i := range m.Spreads {
		s := &m.Spreads[i]
		domains := len(s.Most)
		if len(s.Kinds) == 0 || domains == 0 || len(s.Least) != domains {
			return false
		}
		for k := range s.Kinds {
			if len(s.Kinds[k].Parts) != domains || s.Kinds[k].Count <= 0 {
				return false
			}
			for d, c := range s.Kinds[k].Parts {
				if c < 0 || c >= len(m.Classes) || taken[c] || m.Classes[c].Count != min(s.Kinds[k].Count, s.Most[d]) {
					return false
				}
				taken[c] = true
			}
		}
		total, least, most := s.total(), int64(0), int64(0)
		for d := range domains {
			if s.Least[d] < 0 || s.Most[d] < s.Least[d] {
				return false
			}
			least += min(s.Least[d], total)
			most += min(s.Most[d], total)
		}
		if total > mostSpread || least > total || most < total {
			return false
		}
	}
	return true
}

// spreadParts returns the classes that are parts of spreads.
func (m *Market) spreadParts() model.Bits {
	parts := model.NewBits(len(m.Classes))
	for i := range m.Spreads {
		for k := range m.Spreads[i].Kinds {
			for _, c := range m.Spreads[i].Kinds[k].Parts {
				parts.Set(c)
			}
		}
	}
	return parts
}

// mostSpread bounds the pods of a spread, so that sums stay within an int64.
const mostSpread = 1 << 40

func (s *Spread) total() (n int64) {
	for k := range s.Kinds {
		n = min(n, mostSpread) + min(s.Kinds[k].Count, mostSpread+1)
	}
	return n
}

// fill returns numbers of pods by domain: as many as possible in the first domains of the order, as few as
// possible in the last.
func (s *Spread) fill(order []int) []int64 {
	counts := slices.Clone(s.Least)
	left := s.total()
	for _, n := range counts {
		left -= n
	}
	for _, d := range order {
		n := min(left, s.Most[d]-counts[d])
		counts[d] += n
		left -= n
	}
	return counts
}

// dearest returns the largest sum of multipliers, wherever the pods are.
func (s *Spread) dearest(multipliers []*big.Int) *big.Int {
	order := orderOf(len(multipliers), func(a, b int) int { return multipliers[b].Cmp(multipliers[a]) })
	sum := new(big.Int)
	for d, n := range s.fill(order) {
		sum.Add(sum, new(big.Int).Mul(multipliers[d], big.NewInt(n)))
	}
	return sum
}

// dearestOf is dearest in floating point, with the numbers of pods that give the sum.
func (s *Spread) dearestOf(multipliers []float64) (sum float64, counts []int64) {
	counts = s.fill(orderOf(len(multipliers), func(a, b int) int { return cmp.Compare(multipliers[b], multipliers[a]) }))
	for d, n := range counts {
		sum += multipliers[d] * float64(n)
	}
	return sum, counts
}

// Cheapest returns the least cost of the pods, wherever they are. costs is the cost of one pod by domain, which
// may be +Inf.
func (s *Spread) Cheapest(costs []float64) (sum float64) {
	counts := s.fill(orderOf(len(costs), func(a, b int) int { return cmp.Compare(costs[a], costs[b]) }))
	for d, n := range counts {
		if n > 0 { // the cost may be infinite
			sum += costs[d] * float64(n)
		}
	}
	return sum
}

func orderOf(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}
