package certificate

import (
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// worthBound bounds the worth of loads of a machine from above, by vectors and by patterns.
type worthBound struct {
	dims    *dimensions
	classes []*podClass
	scale   uint
	// values are the vectors, vectors the same with the worths of the classes beyond them. The last one that proved a
	// machine is tried first.
	values  []map[string]*big.Int
	vectors []*valuation
	last    int
	// patterns says that patterns may be tried where vectors prove too little; tries is how
	// many were.
	patterns bool
	tries    *int
}

// evaluate sets vectors: the values with the excess of each class.
func (w *worthBound) evaluate() {
	w.vectors = make([]*valuation, len(w.values))
	for i, v := range w.values {
		w.vectors[i] = w.valuation(v)
	}
}

// valuation is a vector of values with the worths of the classes beyond the values of their requests.
type valuation struct {
	values []*big.Int // by dimension of the proof
	excess []*big.Int // by class, 0 where there is none
	// The same in floating-point nano-USD, to tell quickly that a price cannot be proven.
	nearValues, nearExcess []float64
}

// valuation returns the values with the excess of each class; a resource without a value has the value 0.
func (w *worthBound) valuation(values map[string]*big.Int) *valuation {
	v := &valuation{}
	for _, name := range w.dims.names {
		n := valueOf(values, string(name))
		v.values = append(v.values, n)
		v.nearValues = append(v.nearValues, w.near(n))
	}
	for _, s := range w.classes {
		over := new(big.Int).Set(s.worth)
		for d, n := range s.size {
			over.Sub(over, new(big.Int).Mul(v.values[d], big.NewInt(n)))
		}
		if over.Sign() < 0 {
			over.SetInt64(0)
		}
		v.excess = append(v.excess, over)
		v.nearExcess = append(v.nearExcess, w.near(over))
	}
	return v
}

// near returns worth in nano-USD as a floating-point number, rounded.
func (w *worthBound) near(worth *big.Int) float64 {
	f := new(big.Float).SetInt(worth)
	n, _ := f.SetMantExp(f, -int(w.scale)).Float64()
	return n
}

// scaled returns a price in units of worth, i.e. nano-USD divided by 2^scale.
func (w *worthBound) scaled(p offerings.Price) *big.Int {
	return new(big.Int).Lsh(big.NewInt(int64(p)), w.scale)
}

// mostWorth returns the most worth that the load can have, by the vector.
func (w *worthBound) mostWorth(l load, v *valuation) *big.Int {
	sum := new(big.Int)
	for d, n := range l.room {
		sum.Add(sum, new(big.Int).Mul(v.values[d], big.NewInt(n)))
	}
	for _, p := range l.pods {
		if v.excess[p.class].Sign() > 0 {
			sum.Add(sum, new(big.Int).Mul(v.excess[p.class], big.NewInt(w.classes[p.class].mostAlone(p.count, l.room))))
		}
	}
	return sum
}

// about is holds in floating point, which is faster; it stops above the limit.
func (w *worthBound) about(l load, v *valuation, limit float64) float64 {
	sum := 0.0
	for d, n := range l.room {
		sum += v.nearValues[d] * float64(n)
	}
	for _, p := range l.pods {
		if sum > limit {
			break
		}
		if v.nearExcess[p.class] > 0 {
			sum += v.nearExcess[p.class] * float64(w.classes[p.class].mostAlone(p.count, l.room))
		}
	}
	return sum
}

// within reports whether some vector shows that the load is worth at most the price.
func (w *worthBound) within(l load, price offerings.Price) bool {
	if len(l.pods) == 0 {
		return true
	}
	limit := float64(price) * (1 + 1e-9)
	for k := range w.vectors {
		at := (w.last + k) % len(w.vectors)
		if v := w.vectors[at]; w.about(l, v, limit) <= limit && w.mostWorth(l, v).Cmp(w.scaled(price)) <= 0 {
			w.last = at
			return true
		}
	}
	return false
}

// tightest returns the smallest bound on the worth of the load by any vector, or less where its patterns show it; a
// bound below the limit need not be exact. Without vectors every class counts with its whole worth.
func (w *worthBound) tightest(l load, limit *big.Int) *big.Int {
	if len(l.pods) == 0 {
		return new(big.Int)
	}
	best, by := math.Inf(1), (*valuation)(nil)
	for _, v := range w.vectors {
		if w := w.about(l, v, best); by == nil || w < best {
			best, by = w, v
		}
	}
	if by == nil {
		by = w.valuation(nil)
	}
	if w.patterns {
		return w.bestPattern(l, by, limit)
	}
	return w.mostWorth(l, by)
}
