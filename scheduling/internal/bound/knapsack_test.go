package bound

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// randomKnapsack is a machine for a few classes with worths near a common value of its
// resources, as they are where it matters.
func randomKnapsack(rng *rand.Rand) (Market, machine, []int64) {
	dims, classes := 1+rng.IntN(3), 1+rng.IntN(6)
	m := Market{Dims: dims}
	x := machine{users: model.NewBits(classes), cap: make([]int64, dims)}
	for d := range dims {
		x.cap[d] = 5 + rng.Int64N(25)
	}
	worths := make([]int64, classes)
	for c := range classes {
		size := make([]int64, dims)
		for d := range size {
			size[d] = rng.Int64N(x.cap[d] + 1)
			if rng.IntN(2) == 0 {
				size[d] /= 3
			}
			worths[c] += 10 * size[d]
		}
		if size[0] == 0 {
			size[0] = 1
		}
		worths[c] += rng.Int64N(20)
		m.Classes = append(m.Classes, Class{Size: size, Count: 1 + rng.Int64N(6), PerNode: max(0, rng.Int64N(6)-3)})
		x.users.Set(c)
	}
	return m, x, worths
}

// fullest tries every pattern.
func fullest(m Market, x machine, worths []int64) int64 {
	var try func(c int, left []int64) int64
	try = func(c int, left []int64) int64 {
		if c == len(m.Classes) {
			return 0
		}
		most := int64(-1)
		for n := range m.alone(&x, c) + 1 {
			rest := make([]int64, len(left))
			fits := true
			for d := range left {
				rest[d] = left[d] - n*m.Classes[c].Size[d]
				fits = fits && rest[d] >= 0
			}
			if fits {
				most = max(most, n*worths[c]+try(c+1, rest))
			}
		}
		return most
	}
	return try(0, x.cap)
}

// The search finds what trying everything finds, whatever the values are, and says so
// where it had to leave something out.
func TestSearch(t *testing.T) {
	exact, partial := 0, 0
	for seed := range soak.Cases(500) {
		rng := rand.New(rand.NewPCG(53, seed))
		m, x, worths := randomKnapsack(rng)
		v := m.knapsack(&x)
		s := &search{knapsack: v, worths: worths, values: make([]int64, v.dims), width: 1000}
		for d := range s.values {
			s.values[d] = rng.Int64N(15) * v.units[d]
		}
		want := fullest(m, x, worths)
		s.floor = -1
		if rng.IntN(2) == 0 {
			s.floor = want + rng.Int64N(9) - 4
		}
		if rng.IntN(3) == 0 {
			s.width = 1 + rng.IntN(4)
		}
		out := s.run()
		require.GreaterOrEqual(t, out.bound, want, "%+v %+v %v", m, x, worths)
		require.LessOrEqual(t, out.best, want)
		value, used := int64(0), make([]int64, m.Dims)
		for k, n := range out.counts {
			require.LessOrEqual(t, n, v.most[k])
			value += n * worths[v.classes[k]]
			for d, size := range m.Classes[v.classes[k]].Size {
				used[d] += n * size
			}
		}
		require.Equal(t, out.best, value)
		for d, n := range used {
			require.LessOrEqual(t, n, x.cap[d])
		}
		switch {
		case s.width < 1000:
			partial++
		case s.floor >= want:
			require.Equal(t, s.floor, out.bound)
		default:
			exact++
			require.Equal(t, want, out.best)
			require.Equal(t, want, out.bound)
		}
	}
	assert.Positive(t, exact)
	assert.Positive(t, partial)
}
