package bound

import (
	"math"
	"math/big"
)

// ceil returns max(0, ⌈total ÷ 2^scale⌉), cut to the largest int64.
func ceil(total *big.Int, scale uint) int64 {
	if total.Sign() <= 0 {
		return 0
	}
	// −⌊−x⌋ is ⌈x⌉, and Rsh rounds down.
	up := new(big.Int).Neg(total)
	up.Rsh(up, scale).Neg(up)
	if !up.IsInt64() {
		return math.MaxInt64
	}
	return up.Int64()
}

// worthOf returns the worth of a capacity; overflow says that it exceeds 128 bits.
func worthOf(worths []uint128, caps []int64) (sum uint128, overflow bool) {
	for d := range min(len(worths), len(caps)) {
		if caps[d] <= 0 || worths[d].isZero() {
			continue
		}
		product, over := worths[d].times(uint64(caps[d]))
		if over {
			return uint128{}, true
		}
		if sum, over = sum.plus(product); over {
			return uint128{}, true
		}
	}
	return sum, false
}

// shrink lowers all worths by a common factor until no option holds more than it
// costs. After an exact solution there is normally nothing to do. It reports false
// where that does not end.
func (in Input) shrink(worths []uint128) bool {
	for range shrinkLimit {
		worst, excess := -1, 0.0
		for i := range in.Options {
			o := &in.Options[i]
			sum, overflow := worthOf(worths, o.Cap)
			if !overflow && !sum.greater(uint128{hi: uint64(o.Price)}) {
				continue
			}
			if o.Price == 0 {
				return false
			}
			ratio := math.Inf(1)
			if !overflow {
				ratio = sum.float() / float64(o.Price)
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
			sum.Add(sum, new(big.Int).Mul(worths[d].big(), big.NewInt(at(o.Cap, d))))
		}
		price := new(big.Int).Lsh(big.NewInt(o.Price), Scale)
		for d := range worths {
			v := worths[d].big()
			worths[d] = uint128Of(v.Quo(v.Mul(v, price), sum))
		}
	}
	return false
}

// evaluate returns the bound that feasible worths prove.
func (in Input) evaluate(worths, demand, gratis []uint128) int64 {
	total := new(big.Int)
	for d, w := range worths {
		if w.isZero() {
			continue
		}
		net := new(big.Int).Sub(demand[d].big(), gratis[d].big())
		total.Add(total, net.Mul(net, w.big()))
	}
	for i := range in.Free {
		f := &in.Free[i]
		if f.Price == 0 || f.Count <= 0 {
			continue
		}
		gain := new(big.Int)
		if sum, overflow := worthOf(worths, f.Cap); overflow {
			for d := range min(len(worths), len(f.Cap)) {
				gain.Add(gain, new(big.Int).Mul(worths[d].big(), big.NewInt(at(f.Cap, d))))
			}
		} else if sum.greater(uint128{hi: uint64(f.Price)}) {
			gain = sum.big()
		} else {
			continue
		}
		gain.Sub(gain, new(big.Int).Lsh(big.NewInt(f.Price), Scale))
		total.Sub(total, gain.Mul(gain, big.NewInt(f.Count)))
	}
	return ceil(total, Scale)
}
