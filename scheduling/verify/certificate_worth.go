package verify

import (
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// valuation is a vector with what it leaves of the worths of the sorts.
type valuation struct {
	values []*big.Int // by resource of the proof
	excess []*big.Int // by sort, 0 where there is none
	// The same in floating point, to tell quickly what cannot be proven.
	nearValues, nearExcess []float64
}

func (pr *assignmentProof) valuation(values map[corev1.ResourceName]*big.Int) *valuation {
	v := &valuation{}
	names := slices.Clone(pr.names)
	for _, m := range pr.measures {
		names = append(names, m.name)
	}
	for _, name := range names {
		n := values[name]
		if n == nil {
			n = new(big.Int)
		}
		v.values = append(v.values, n)
		v.nearValues = append(v.nearValues, near(n))
	}
	for _, s := range pr.sorts {
		over := new(big.Int).Set(s.worth)
		for d, n := range s.size {
			over.Sub(over, new(big.Int).Mul(v.values[d], big.NewInt(n)))
		}
		if over.Sign() < 0 {
			over.SetInt64(0)
		}
		v.excess = append(v.excess, over)
		v.nearExcess = append(v.nearExcess, near(over))
	}
	return v
}

func near(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

// holds is the worth that the load can have at most, as far as the vector tells.
func (pr *assignmentProof) holds(l load, v *valuation) *big.Int {
	sum := new(big.Int)
	for d, n := range l.room {
		sum.Add(sum, new(big.Int).Mul(v.values[d], big.NewInt(n)))
	}
	for _, p := range l.pods {
		if v.excess[p.sort].Sign() > 0 {
			sum.Add(sum, new(big.Int).Mul(v.excess[p.sort], big.NewInt(pr.sorts[p.sort].alone(p.count, l.room))))
		}
	}
	return sum
}

// about is holds in floating point; it stops beyond the limit.
func (pr *assignmentProof) about(l load, v *valuation, limit float64) float64 {
	sum := 0.0
	for d, n := range l.room {
		sum += v.nearValues[d] * float64(n)
	}
	for _, p := range l.pods {
		if sum > limit {
			break
		}
		if v.nearExcess[p.sort] > 0 {
			sum += v.nearExcess[p.sort] * float64(pr.sorts[p.sort].alone(p.count, l.room))
		}
	}
	return sum
}

// bearableLoad reports whether the load is worth at most the price, as vectors show or
// else its fillings.
func (pr *assignmentProof) bearableLoad(l load, price offerings.Price) bool {
	if pr.within(l, price) {
		return true
	}
	cost := new(big.Int).Lsh(big.NewInt(int64(price)), pr.scale)
	return pr.filling && pr.least(l, cost).Cmp(cost) <= 0
}

// within reports whether some vector shows that the load is worth at most the price.
func (pr *assignmentProof) within(l load, price offerings.Price) bool {
	if len(l.pods) == 0 {
		return true
	}
	cost := new(big.Int).Lsh(big.NewInt(int64(price)), pr.scale)
	limit := near(cost) * (1 + 1e-9)
	for k := range pr.vectors {
		at := (pr.last + k) % len(pr.vectors)
		v := pr.vectors[at]
		if pr.about(l, v, limit) <= limit && pr.holds(l, v).Cmp(cost) <= 0 {
			pr.last = at
			return true
		}
	}
	return false
}

// least is the least worth that a vector leaves the load, or less than that where its
// fillings show it. Less than the limit is of no interest.
func (pr *assignmentProof) least(l load, limit *big.Int) *big.Int {
	if len(l.pods) == 0 {
		return new(big.Int)
	}
	// No vector at all: every sort counts with what it is worth.
	best, at := 0.0, -1
	for k, v := range pr.vectors {
		limit := best
		if at < 0 {
			limit = near(new(big.Int).Lsh(big.NewInt(1), 1023))
		}
		if w := pr.about(l, v, limit); at < 0 || w < best {
			best, at = w, k
		}
	}
	v := pr.valuation(nil)
	if at >= 0 {
		v = pr.vectors[at]
	}
	if pr.filling {
		return pr.fullest(l, v, limit)
	}
	return pr.holds(l, v)
}
