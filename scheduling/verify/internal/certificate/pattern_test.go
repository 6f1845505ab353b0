package certificate

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomKnapsack is a small machine with pods that are worth about as much as their room.
func randomKnapsack(rng *rand.Rand) *knapsack {
	f := &knapsack{tries: mostTries}
	for range 1 + rng.IntN(3) {
		f.room, f.values = append(f.room, 4+rng.Int64N(20)), append(f.values, rng.Int64N(12))
	}
	for range 1 + rng.IntN(5) {
		h := item{most: 1 + rng.Int64N(5), worth: rng.Int64N(12)}
		for _, room := range f.room {
			n := rng.Int64N(room + 1)
			h.size = append(h.size, n)
			h.worth += 6 * n
		}
		h.beyond = h.worth
		for d, n := range h.size {
			h.beyond -= f.values[d] * n
		}
		f.items = append(f.items, h)
	}
	return f
}

// everyPattern tries them all.
func everyPattern(items []item, left []int64) int64 {
	if len(items) == 0 {
		return 0
	}
	best := int64(0)
	for n := range items[0].most + 1 {
		rest := make([]int64, len(left))
		fits := true
		for d := range left {
			rest[d] = left[d] - n*items[0].size[d]
			fits = fits && rest[d] >= 0
		}
		if fits {
			best = max(best, n*items[0].worth+everyPattern(items[1:], rest))
		}
	}
	return best
}

func TestKnapsackFindsTheBestPattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	found, satisfied := 0, 0
	for range 4000 {
		f := randomKnapsack(rng)
		want := everyPattern(f.items, f.room)
		if rng.IntN(2) == 0 {
			f.limit = max(0, want+rng.Int64N(20)-10)
		}
		limit := f.limit
		got, ok := f.most()
		require.True(t, ok)
		require.Equal(t, max(want, limit), got)
		if want > limit {
			found++
		} else {
			satisfied++
		}
	}
	assert.Greater(t, found, 1000)
	assert.Greater(t, satisfied, 500)
}

// It gives up rather than say too little.
func TestKnapsackGivesUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 2))
	gaveUp := 0
	for range 1000 {
		f := randomKnapsack(rng)
		want := everyPattern(f.items, f.room)
		f.tries = rng.IntN(40)
		if got, ok := f.most(); ok {
			require.Equal(t, want, got)
		} else {
			gaveUp++
		}
	}
	assert.Greater(t, gaveUp, 200)
}
