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
			require.GreaterOrEqual(t, got, want)
		} else {
			gaveUp++
		}
	}
	assert.Greater(t, gaveUp, 200)
}

// Where sizes are round and the room is not, values of resources count room that whole pods cannot use: few tries show that
// all the same.
func TestKnapsackTriesFewPatternsOfRoundSizes(t *testing.T) {
	f := &knapsack{room: []int64{155, 225}, values: []int64{40, 10}, tries: 2000, limit: 9200} // 3,600 by the values alone
	for i, size := range [][]int64{{80, 64}, {70, 16}, {40, 64}, {40, 16}, {40, 8}, {20, 32}, {20, 16}, {20, 8}, {20, 4}, {10, 32}, {10, 8}, {5, 1}} {
		x := item{size: size, most: min(56, f.room[0]/size[0], f.room[1]/size[1]), worth: 64 + 40*size[0] + 10*size[1]}
		if i == 11 {
			x.worth = 80 // small pods fill what is left badly
		}
		x.beyond = x.worth - 40*size[0] - 10*size[1]
		f.items = append(f.items, x)
	}
	most, ok := f.most()
	assert.True(t, ok)
	assert.Equal(t, f.limit, most)
}
