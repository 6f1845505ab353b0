package bound

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
		a, b, n := uint128{word(), word()}, uint128{word(), word()}, word()
		bigA, bigB := a.big(), b.big()
		assert.Equal(t, a, uint128Of(bigA))

		sum, overflow := a.plus(b)
		want := new(big.Int).Add(bigA, bigB)
		assert.Equal(t, want.Cmp(limit) >= 0, overflow)
		assert.Zero(t, new(big.Int).Mod(want, limit).Cmp(sum.big()))

		product, overflow := a.times(n)
		want = new(big.Int).Mul(bigA, new(big.Int).SetUint64(n))
		assert.Equal(t, want.Cmp(limit) >= 0, overflow)
		if !overflow {
			assert.Zero(t, want.Cmp(product.big()))
		}

		want = new(big.Int).Sub(bigA, bigB)
		if want.Sign() < 0 {
			want.SetInt64(0)
		}
		assert.Zero(t, want.Cmp(a.minus(b).big()))
		assert.Equal(t, bigA.Cmp(bigB) > 0, a.greater(b))
		assert.Equal(t, bigA.Sign() == 0, a.isZero())

		near, _ := new(big.Float).SetInt(bigA).Float64()
		assert.InEpsilon(t, near+1, a.float()+1, 1e-15)
		if bigA.IsInt64() {
			assert.Equal(t, bigA.Int64(), a.int64())
		} else {
			assert.Equal(t, int64(math.MaxInt64), a.int64())
		}
	}
}

func TestUint128OfCuts(t *testing.T) {
	assert.Equal(t, uint128{}, uint128Of(big.NewInt(-5)))
	assert.Equal(t, uint128{math.MaxUint64, math.MaxUint64}, uint128Of(new(big.Int).Lsh(big.NewInt(1), 128)))
}
