package fixed

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every operation agrees with math/big, overflow included.
func TestUint128(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 128))
	word := func() uint64 {
		return []uint64{0, 1, math.MaxUint64, 1 << 63, rng.Uint64(), rng.Uint64N(1000)}[rng.IntN(6)]
	}
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	for range 3000 {
		a, b, n := Uint128{word(), word()}, Uint128{word(), word()}, word()
		bigA, bigB := a.Big(), b.Big()
		assert.Equal(t, a, OfBig(bigA))

		sum, overflow := a.Plus(b)
		want := new(big.Int).Add(bigA, bigB)
		assert.Equal(t, want.Cmp(limit) >= 0, overflow)
		assert.Zero(t, new(big.Int).Mod(want, limit).Cmp(sum.Big()))

		product, overflow := a.Times(n)
		want = new(big.Int).Mul(bigA, new(big.Int).SetUint64(n))
		assert.Equal(t, want.Cmp(limit) >= 0, overflow)
		if !overflow {
			assert.Zero(t, want.Cmp(product.Big()))
		}

		want = new(big.Int).Sub(bigA, bigB)
		if want.Sign() < 0 {
			want.SetInt64(0)
		}
		assert.Zero(t, want.Cmp(a.Minus(b).Big()))
		assert.Equal(t, bigA.Cmp(bigB) > 0, a.Greater(b))
		assert.Equal(t, bigA.Sign() == 0, a.IsZero())

		near, _ := new(big.Float).SetInt(bigA).Float64()
		assert.InEpsilon(t, near+1, a.Float64()+1, 1e-15)
		if bigA.IsInt64() {
			assert.Equal(t, bigA.Int64(), a.Int64())
		} else {
			assert.Equal(t, int64(math.MaxInt64), a.Int64())
		}
	}
}

func TestOfBigCuts(t *testing.T) {
	assert.Equal(t, Uint128{}, OfBig(big.NewInt(-5)))
	assert.Equal(t, Uint128{math.MaxUint64, math.MaxUint64}, OfBig(new(big.Int).Lsh(big.NewInt(1), 128)))
}

func TestFixedPoint(t *testing.T) {
	assert.Equal(t, Uint128{lo: 1 << 63}, Quotient(big.NewInt(1), big.NewInt(2)))
	assert.Equal(t, Uint128{lo: math.MaxUint64 / 3}, Quotient(big.NewInt(1), big.NewInt(3)), "rounds down")
	assert.Equal(t, Uint128{}, Quotient(big.NewInt(-1), big.NewInt(3)))
	assert.Equal(t, Uint128{hi: 3, lo: 1 << 62}, Of(3.25))
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		assert.Equal(t, Uint128{}, Of(v))
	}
	assert.Equal(t, Uint128{math.MaxUint64, math.MaxUint64}, Of(math.Inf(1)))
}

func TestProduct(t *testing.T) {
	most := int64(math.MaxInt64)
	for _, tc := range [][3]int64{{3, 4, 12}, {most, 0, 0}, {0, most, 0}, {most, 1, most}, {most, 2, most}, {1 << 32, 1 << 31, most}, {1 << 31, 1 << 31, 1 << 62}} {
		assert.Equal(t, tc[2], Product(tc[0], tc[1]))
	}
}
