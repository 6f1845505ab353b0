package fixed

import (
	"math"
	"math/big"
	"math/bits"
)

// Scale is the number of binary places. Values below 2^63 nano-USD then fit 128 bits, and
// rounding down costs less than a nano-USD for demands up to 2^64 bytes.
const Scale = 64

// Uint128 is an unsigned integer. Operations report overflow instead of wrapping silently.
type Uint128 struct{ hi, lo uint64 }

// Int is n; 0 for a negative n.
func Int(n int64) Uint128 { return Uint128{lo: uint64(max(0, n))} }

// Whole is n in fixed point; 0 for a negative n.
func Whole(n int64) Uint128 { return Uint128{hi: uint64(max(0, n))} }

// Of is v in fixed point, rounded down and cut to 128 bits; 0 for NaN and for a negative v.
func Of(v float64) Uint128 {
	if !(v > 0) {
		return Uint128{}
	}
	f := new(big.Float).SetFloat64(min(v, 1e300))
	f.SetMantExp(f, Scale)
	i, _ := f.Int(nil)
	return OfBig(i)
}

// Quotient is numerator ÷ denominator in fixed point, rounded down and cut to 128 bits; 0 where
// it is negative. The denominator is positive.
func Quotient(numerator, denominator *big.Int) Uint128 {
	if numerator.Sign() <= 0 {
		return Uint128{}
	}
	v := new(big.Int).Lsh(numerator, Scale)
	return OfBig(v.Quo(v, denominator))
}

// OfBig converts an integer from 0 to 2^128 − 1; an integer outside becomes the nearer end.
func OfBig(v *big.Int) Uint128 {
	if v.Sign() <= 0 {
		return Uint128{}
	}
	if v.BitLen() > 128 {
		return Uint128{math.MaxUint64, math.MaxUint64}
	}
	hi := new(big.Int).Rsh(v, 64)
	lo := new(big.Int).Sub(v, new(big.Int).Lsh(hi, 64))
	return Uint128{hi.Uint64(), lo.Uint64()}
}

// Plus returns a + b.
func (a Uint128) Plus(b Uint128) (sum Uint128, overflow bool) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, carry := bits.Add64(a.hi, b.hi, carry)
	return Uint128{hi, lo}, carry != 0
}

// Minus returns a − b, 0 where b is larger.
func (a Uint128) Minus(b Uint128) Uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, borrow := bits.Sub64(a.hi, b.hi, borrow)
	if borrow != 0 {
		return Uint128{}
	}
	return Uint128{hi, lo}
}

// Times returns a · n.
func (a Uint128) Times(n uint64) (product Uint128, overflow bool) {
	carry, lo := bits.Mul64(a.lo, n)
	over, mid := bits.Mul64(a.hi, n)
	hi, c := bits.Add64(mid, carry, 0)
	return Uint128{hi, lo}, over != 0 || c != 0
}

// BitLen is the length of the number.
func (a Uint128) BitLen() int {
	if a.hi > 0 {
		return 64 + bits.Len64(a.hi)
	}
	return bits.Len64(a.lo)
}

// Shifted is the number divided by 2^by, rounded down or up. The result must fit in 64 bits.
func (a Uint128) Shifted(by uint, up bool) uint64 {
	low := a.lo>>by | a.hi<<(64-by)
	rest := a.lo << (64 - by)
	if by >= 64 {
		low, rest = a.hi>>(by-64), a.lo|a.hi<<(128-by)
	}
	if up && rest != 0 {
		low++
	}
	return low
}

// IsZero says that the number is 0.
func (a Uint128) IsZero() bool { return a.hi|a.lo == 0 }

// Greater says that a > b.
func (a Uint128) Greater(b Uint128) bool {
	return a.hi > b.hi || a.hi == b.hi && a.lo > b.lo
}

// Int64 is the number, or the largest int64 where it is larger.
func (a Uint128) Int64() int64 {
	if a.hi != 0 || a.lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(a.lo)
}

// Float64 is the number, rounded.
func (a Uint128) Float64() float64 {
	return math.Ldexp(float64(a.hi), 64) + float64(a.lo)
}

// Big is the number.
func (a Uint128) Big() *big.Int {
	v := new(big.Int).SetUint64(a.hi)
	v.Lsh(v, 64)
	return v.Or(v, new(big.Int).SetUint64(a.lo))
}

// Bigs are the numbers.
func Bigs(numbers []Uint128) []*big.Int {
	out := make([]*big.Int, len(numbers))
	for i, n := range numbers {
		out[i] = n.Big()
	}
	return out
}

// Float64 is a number in fixed point, rounded.
func Float64(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Ldexp(f, -Scale)
}

// Dot is Σ duals·amounts, with negative amounts as zeros. The longer slice is cut.
func Dot(worths []Uint128, amounts []int64) (sum Uint128, overflow bool) {
	for d := range min(len(worths), len(amounts)) {
		if amounts[d] <= 0 || worths[d].IsZero() {
			continue
		}
		product, over := worths[d].Times(uint64(amounts[d]))
		if over {
			return Uint128{}, true
		}
		if sum, over = sum.Plus(product); over {
			return Uint128{}, true
		}
	}
	return sum, false
}

// Ceil is a number in fixed point, rounded up to a whole one: at least 0, at most the largest int64.
func Ceil(v *big.Int) int64 {
	if v.Sign() <= 0 {
		return 0
	}
	// −⌊−x⌋ is ⌈x⌉, and Rsh rounds down.
	up := new(big.Int).Neg(v)
	up.Rsh(up, Scale).Neg(up)
	if !up.IsInt64() {
		return math.MaxInt64
	}
	return up.Int64()
}

// Product is a·b, at most the largest int64. Neither is negative.
func Product(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
