package covering

import (
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// shrink scales all duals down until y·cap ≤ price holds for every option. After an exact solution this
// normally changes none. It reports false where that does not end.
func (in Input) shrink(duals []fixed.Uint128) bool {
	for range shrinkLimit {
		worst, excess := -1, 0.0
		for i := range in.Options {
			o := &in.Options[i]
			sum, overflow := fixed.Dot(duals, o.Cap)
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
		for d := range min(len(duals), len(o.Cap)) {
			sum.Add(sum, new(big.Int).Mul(duals[d].Big(), big.NewInt(at(o.Cap, d))))
		}
		price := new(big.Int).Lsh(big.NewInt(o.Price), fixed.Scale)
		for d := range duals {
			v := duals[d].Big()
			duals[d] = fixed.OfBig(v.Quo(v.Mul(v, price), sum))
		}
	}
	return false
}

// evaluate returns the bound that feasible duals prove.
func (in Input) evaluate(duals, demand, gratis []fixed.Uint128) int64 {
	total := new(big.Int)
	for d, w := range duals {
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
		if sum, overflow := fixed.Dot(duals, f.Cap); overflow {
			for d := range min(len(duals), len(f.Cap)) {
				gain.Add(gain, new(big.Int).Mul(duals[d].Big(), big.NewInt(at(f.Cap, d))))
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
