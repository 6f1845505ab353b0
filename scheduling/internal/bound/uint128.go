package bound

import (
	"math"
	"math/big"
	"math/bits"
)

// uint128 is an unsigned integer of 128 bits. Operations report overflow instead
// of wrapping silently.
type uint128 struct{ hi, lo uint64 }

func (a uint128) plus(b uint128) (sum uint128, overflow bool) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, carry := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}, carry != 0
}

// minus returns a − b, 0 where b is larger.
func (a uint128) minus(b uint128) uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, borrow := bits.Sub64(a.hi, b.hi, borrow)
	if borrow != 0 {
		return uint128{}
	}
	return uint128{hi, lo}
}

func (a uint128) times(n uint64) (product uint128, overflow bool) {
	carry, lo := bits.Mul64(a.lo, n)
	over, mid := bits.Mul64(a.hi, n)
	hi, c := bits.Add64(mid, carry, 0)
	return uint128{hi, lo}, over != 0 || c != 0
}

// bits is the length of the number.
func (a uint128) bits() int {
	if a.hi > 0 {
		return 64 + bits.Len64(a.hi)
	}
	return bits.Len64(a.lo)
}

// shifted is the number divided by a power of two such that it fits 64 bits, rounded
// down or up.
func (a uint128) shifted(by uint, up bool) uint64 {
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

func (a uint128) isZero() bool { return a.hi|a.lo == 0 }

func (a uint128) greater(b uint128) bool {
	return a.hi > b.hi || a.hi == b.hi && a.lo > b.lo
}

// int64 returns the number, or the largest int64 where it is larger.
func (a uint128) int64() int64 {
	if a.hi != 0 || a.lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(a.lo)
}

func (a uint128) float() float64 {
	return math.Ldexp(float64(a.hi), 64) + float64(a.lo)
}

func (a uint128) big() *big.Int {
	v := new(big.Int).SetUint64(a.hi)
	v.Lsh(v, 64)
	return v.Or(v, new(big.Int).SetUint64(a.lo))
}

func bigsOf(numbers []uint128) []*big.Int {
	out := make([]*big.Int, len(numbers))
	for i, n := range numbers {
		out[i] = n.big()
	}
	return out
}

// uint128Of converts a number from 0 to 2^128 − 1; other numbers become the nearer end.
func uint128Of(v *big.Int) uint128 {
	if v.Sign() <= 0 {
		return uint128{}
	}
	if v.BitLen() > 128 {
		return uint128{math.MaxUint64, math.MaxUint64}
	}
	hi := new(big.Int).Rsh(v, 64)
	lo := new(big.Int).Sub(v, new(big.Int).Lsh(hi, 64))
	return uint128{hi.Uint64(), lo.Uint64()}
}
