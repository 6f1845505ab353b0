package knapsack

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
)

// randomKnapsack is a machine for a few classes with worths near a common value of its
// resources, as they are where it matters.
func randomKnapsack(rng *rand.Rand) (room []int64, classes []Class, worths []int64) {
	room = make([]int64, 1+rng.IntN(3))
	for d := range room {
		room[d] = 5 + rng.Int64N(25)
	}
	for c := range 1 + rng.IntN(6) {
		size, worth := make([]int64, len(room)), rng.Int64N(20)
		for d := range size {
			size[d] = rng.Int64N(room[d] + 1)
			if rng.IntN(2) == 0 {
				size[d] /= 3
			}
			worth += 10 * size[d]
		}
		if size[0] == 0 {
			size[0] = 1
		}
		most := 1 + rng.Int64N(6)
		for d, n := range size {
			if n > 0 {
				most = min(most, room[d]/n)
			}
		}
		classes, worths = append(classes, Class{Number: c, Size: size, Most: most}), append(worths, worth)
	}
	return room, classes, worths
}

// fullest tries every pattern.
func fullest(room []int64, classes []Class, worths []int64) int64 {
	var try func(c int, left []int64) int64
	try = func(c int, left []int64) int64 {
		if c == len(classes) {
			return 0
		}
		most := int64(-1)
		for n := range classes[c].Most + 1 {
			rest := make([]int64, len(left))
			fits := true
			for d := range left {
				rest[d] = left[d] - n*classes[c].Size[d]
				fits = fits && rest[d] >= 0
			}
			if fits {
				most = max(most, n*worths[c]+try(c+1, rest))
			}
		}
		return most
	}
	return try(0, room)
}

// The search finds what trying everything finds, whatever the values are, and says so
// where it had to leave something out.
func TestSearch(t *testing.T) {
	exact, partial := 0, 0
	for seed := range soak.Cases(500) {
		rng := rand.New(rand.NewPCG(53, seed))
		room, classes, worths := randomKnapsack(rng)
		v := New(room, classes)
		s := &Search{Knapsack: v, PodValues: worths, Values: make([]int64, len(v.Rows)), Width: 1000}
		for d := range s.Values {
			s.Values[d] = rng.Int64N(15) * v.Units[d]
		}
		want := fullest(room, classes, worths)
		s.Floor = -1
		if rng.IntN(2) == 0 {
			s.Floor = want + rng.Int64N(9) - 4
		}
		if rng.IntN(3) == 0 {
			s.Width = 1 + rng.IntN(4)
		}
		out := s.Run()
		require.GreaterOrEqual(t, out.Bound, want, "%v %+v %v", room, classes, worths)
		require.LessOrEqual(t, out.Best, want)
		value, used := int64(0), make([]int64, len(room))
		for k, n := range out.Counts {
			require.LessOrEqual(t, n, v.Most[k])
			value += n * worths[k]
			for d, size := range classes[k].Size {
				used[d] += n * size
			}
		}
		require.Equal(t, out.Best, value)
		for d, n := range used {
			require.LessOrEqual(t, n, room[d])
		}
		switch {
		case s.Width < 1000:
			partial++
		case s.Floor >= want:
			require.Equal(t, s.Floor, out.Bound)
		default:
			exact++
			require.Equal(t, want, out.Best)
			require.Equal(t, want, out.Bound)
		}
	}
	assert.Positive(t, exact)
	assert.Positive(t, partial)
}

// Where sizes are round and the room is not, the duals of rows count room that whole pods cannot use. A search with few
// states has to know that, because there are too many patterns to look at each.
func TestSearchProvesRoundSizes(t *testing.T) {
	room := []int64{155, 225, 56}
	var classes []Class
	var worths []float64
	for c, size := range [][]int64{{80, 64, 1}, {70, 16, 1}, {40, 64, 1}, {40, 16, 1}, {40, 8, 1}, {20, 32, 1}, {20, 16, 1}, {20, 8, 1}, {20, 4, 1}, {10, 32, 1}, {10, 8, 1}, {5, 1, 1}} {
		most := int64(56)
		for d, n := range size {
			most = min(most, room[d]/n)
		}
		classes = append(classes, Class{Number: c, Size: size, Most: most})
		worths = append(worths, 16+10*float64(size[0])+2.5*float64(size[1]))
	}
	worths[len(worths)-1] = 20 // small pods fill what is left badly
	v := New(room, classes)
	relaxed := v.Relax(worths)
	relaxed.Solve()
	s := &Search{Knapsack: v, Width: 120}
	s.Scale(relaxed, 1<<14, 0)
	out := s.Run()
	assert.Less(t, float64(out.Bound), 1.005*float64(out.Best)) // by the duals alone it is 1.019
}

// The number at a place of the descending order is found whatever the order of the numbers, with equal ones among them.
func TestNthLargest(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(7, seed))
		numbers := make([]int64, 1+rng.IntN(20))
		for i := range numbers {
			numbers[i] = rng.Int64N(8)
		}
		sorted := slices.Clone(numbers)
		slices.SortFunc(sorted, func(a, b int64) int { return cmp.Compare(b, a) })
		for n := range numbers {
			assert.Equal(t, sorted[n], nthLargest(slices.Clone(numbers), n), "%v at %d", numbers, n)
		}
	}
}
