package covering

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

func ints(v ...int64) []*big.Int {
	out := make([]*big.Int, len(v))
	for i := range v {
		out[i] = big.NewInt(v[i])
	}
	return out
}

func TestCheck(t *testing.T) {
	in := Input{Dims: 2,
		Items:   []Item{{Size: []int64{3, 5}, Count: 10}},
		Options: []Option{{Cap: []int64{4, 8}, Price: 20}, {Cap: []int64{10, 1}, Price: 31}},
		Free:    []Bin{{Cap: []int64{1, 1}, Count: 2}, {Cap: []int64{2, 2}, Price: 9, Count: 3}},
	}
	for name, tc := range map[string]struct {
		values []*big.Int
		scale  uint
		bound  int64
		ok     bool
	}{
		// 30·3 + 50·1 is 140; two bins hold 4 each, three hold 8, less than their 9.
		"whole worths":          {ints(3, 1), 0, 132, true},
		"nothing is worth":      {ints(0, 0), 0, 0, true},
		"halves":                {ints(6, 2), 1, 132, true},
		"rounded up":            {ints(1, 0), 3, 4, true}, // 30/8 − 2/8
		"exactly the price":     {ints(1, 2), 0, 30 + 100 - 2*3, true},
		"one option too dear":   {ints(4, 0), 0, 0, false},
		"negative worth":        {ints(3, -1), 0, 0, false},
		"no worth":              {[]*big.Int{big.NewInt(1), nil}, 0, 0, false},
		"too few worths":        {ints(1), 0, 0, false},
		"too many worths":       {ints(1, 1, 0), 0, 0, false},
		"one quarter too dear":  {ints(13, 4), 2, 0, false},
		"dear by a single unit": {ints(3*1024+1, 1024), 10, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			bound, ok := Check(tc.values, tc.scale, in)
			assert.Equal(t, tc.ok, ok)
			assert.Equal(t, tc.bound, bound)
		})
	}
}

func TestCheckTakesOffWhatAReservationHolds(t *testing.T) {
	in := Input{Dims: 1, Items: []Item{{Size: []int64{1}, Count: 10}}, Options: []Option{{Cap: []int64{1}, Price: 5}},
		Free: []Bin{{Cap: []int64{2}, Price: 4, Count: 3}}}
	bound, ok := Check(ints(5), 0, in)
	require.True(t, ok)
	assert.Equal(t, int64(50-3*6), bound)
}

// Duals that are too high by a factor are lowered until they are feasible, and no further.
func TestShrink(t *testing.T) {
	in := Input{Dims: 2, Options: []Option{{Cap: []int64{10, 0}, Price: 100}, {Cap: []int64{0, 10}, Price: 300}, {Cap: []int64{math.MaxInt64, 0}, Price: math.MaxInt64}}}
	duals := []fixed.Uint128{fixed.Whole(1 << 60), fixed.Whole(1 << 60)}
	require.True(t, in.shrink(duals))
	assert.Equal(t, fixed.Whole(1), duals[0])
	assert.Equal(t, fixed.Whole(1), duals[1])

	t.Run("worths that fit stay", func(t *testing.T) {
		duals := []fixed.Uint128{fixed.Whole(1), fixed.Whole(30)}
		require.True(t, in.shrink(duals))
		assert.Equal(t, []fixed.Uint128{fixed.Whole(1), fixed.Whole(30)}, duals)
	})
	t.Run("nothing can be worth anything where it is given away", func(t *testing.T) {
		in := Input{Dims: 1, Options: []Option{{Cap: []int64{1}}}}
		assert.False(t, in.shrink([]fixed.Uint128{fixed.Int(1)}))
	})
}

func TestSolveExactly(t *testing.T) {
	// 2a + b = 5, a − b + c = 0, 3c = 1 has a = 14/9, b = 17/9, c = 1/3.
	n, den, ok := solveExactly([]equation{
		{[]int64{2, 1, 0}, big.NewInt(5)}, {[]int64{1, -1, 1}, big.NewInt(0)}, {[]int64{0, 0, 3}, big.NewInt(1)}})
	require.True(t, ok)
	for i, want := range []*big.Rat{big.NewRat(14, 9), big.NewRat(17, 9), big.NewRat(1, 3)} {
		assert.Zero(t, want.Cmp(new(big.Rat).SetFrac(n[i], den)), "%d", i)
	}
	_, _, ok = solveExactly([]equation{{[]int64{1, 2}, big.NewInt(1)}, {[]int64{2, 4}, big.NewInt(2)}})
	assert.False(t, ok, "dependent equations")
	// The first pivot is zero, and the determinant negative.
	n, den, ok = solveExactly([]equation{{[]int64{0, 1}, big.NewInt(3)}, {[]int64{1, 0}, big.NewInt(4)}})
	require.True(t, ok)
	assert.Positive(t, den.Sign())
	assert.Equal(t, "4 3", new(big.Int).Quo(n[0], den).String()+" "+new(big.Int).Quo(n[1], den).String())
}

// Check proves a bound from the worths alone: ok says that no worth is negative,
// that no price is, and that no option holds more worth than it costs; bound is
// then a lower bound in nano-USD per hour, at most the largest int64. Worths are
// in nano-USD per hour divided by 2^scale. Check shares no arithmetic with
// [Resource].
func Check(values []*big.Int, scale uint, in Input) (bound int64, ok bool) {
	if len(values) != in.Dims {
		return 0, false
	}
	for _, v := range values {
		if v == nil || v.Sign() < 0 {
			return 0, false
		}
	}
	worth := func(caps []int64) *big.Int {
		sum := new(big.Int)
		for d, c := range caps {
			if d < len(values) && c > 0 {
				sum.Add(sum, new(big.Int).Mul(values[d], big.NewInt(c)))
			}
		}
		return sum
	}
	scaled := func(price int64) *big.Int { return new(big.Int).Lsh(big.NewInt(price), scale) }
	for _, o := range in.Options {
		if o.Price < 0 || worth(o.Cap).Cmp(scaled(o.Price)) > 0 {
			return 0, false
		}
	}
	total := new(big.Int)
	for _, it := range in.Items {
		total.Add(total, new(big.Int).Mul(worth(it.Size), big.NewInt(max(0, it.Count))))
	}
	for _, f := range in.Free {
		if f.Price < 0 {
			return 0, false
		}
		if gain := new(big.Int).Sub(worth(f.Cap), scaled(f.Price)); gain.Sign() > 0 {
			total.Sub(total, gain.Mul(gain, big.NewInt(max(0, f.Count))))
		}
	}
	return fixed.Ceil(total.Lsh(total, fixed.Scale-scale)), true
}
