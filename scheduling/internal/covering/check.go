package covering

import (
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// shrink lowers all worths by a common factor until no option holds more than it
// costs. After an exact solution there is normally nothing to do. It reports false
// where that does not end.
func (in Input) shrink(worths []fixed.Uint128) bool {
	for range shrinkLimit {
		worst, excess := -1, 0.0
		for i := range in.Options {
			o := &in.Options[i]
			sum, overflow := fixed.Dot(worths, o.Cap)
			if !overflow && !sum.Greater(fixed.Whole(o.Price)) {
				continue
			}
			if o.Price == 0 {
				return false
			}
			ratio := math.Inf(1)
			if !overflow {
				ratio = sum.Float64() / float64(o.Price)
			}
			if ratio > excess {
				worst, excess = i, ratio
			}
		}
		if worst < 0 {
			return true
		}
		o := &in.Options[worst]
		sum := new(big.Int)
		for d := range min(len(worths), len(o.Cap)) {
			sum.Add(sum, new(big.Int).Mul(worths[d].Big(), big.NewInt(at(o.Cap, d))))
		}
		price := new(big.Int).Lsh(big.NewInt(o.Price), fixed.Scale)
		for d := range worths {
			v := worths[d].Big()
			worths[d] = fixed.OfBig(v.Quo(v.Mul(v, price), sum))
		}
	}
	return false
}

// evaluate returns the bound that feasible worths prove.
func (in Input) evaluate(worths, demand, gratis []fixed.Uint128) int64 {
	total := new(big.Int)
	for d, w := range worths {
		if w.IsZero() {
			continue
		}
		net := new(big.Int).Sub(demand[d].Big(), gratis[d].Big())
		total.Add(total, net.Mul(net, w.Big()))
	}
	for i := range in.Free {
		f := &in.Free[i]
		if f.Price == 0 || f.Count <= 0 {
			continue
		}
		gain := new(big.Int)
		if sum, overflow := fixed.Dot(worths, f.Cap); overflow {
			for d := range min(len(worths), len(f.Cap)) {
				gain.Add(gain, new(big.Int).Mul(worths[d].Big(), big.NewInt(at(f.Cap, d))))
			}
		} else if sum.Greater(fixed.Whole(f.Price)) {
			gain = sum.Big()
		} else {
			continue
		}
		gain.Sub(gain, new(big.Int).Lsh(big.NewInt(f.Price), fixed.Scale))
		total.Sub(total, gain.Mul(gain, big.NewInt(f.Count)))
	}
	return fixed.Ceil(total)
}
