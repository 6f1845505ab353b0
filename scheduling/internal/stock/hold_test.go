package stock

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is held holds together whichever option each launch is bought at, and nothing more would.
func TestHeldOptionsHoldTogether(t *testing.T) {
	accounts := []account{{"pool", "cpu"}, {"pool", "memory"}, {"", "cr-1"}}
	partly := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 27))
		left := ledger{}
		for _, a := range accounts {
			left[a] = rng.Int64N(12)
		}
		more := make([][]ledger, 1+rng.IntN(5))
		for i := range more {
			more[i] = []ledger{{}}
			for range rng.IntN(4) {
				extra := ledger{}
				for _, a := range accounts {
					if n := min(rng.Int64N(6), left[a]); n > 2 {
						extra[a] = n
					}
				}
				more[i] = append(more[i], extra)
			}
		}
		out := held(left, more)
		spare := func(out [][]int) ledger {
			rest := ledger{}
			for _, a := range accounts {
				rest[a] = left[a]
			}
			for i, options := range out {
				most := ledger{}
				for _, x := range options {
					most.raise(more[i][x])
				}
				for a, n := range most {
					rest[a] -= n
				}
			}
			return rest
		}
		for i, options := range more {
			assert.Contains(t, out[i], 0, "seed %d", seed)
			for x := range options {
				if slices.Contains(out[i], x) {
					continue
				}
				partly++
				with := slices.Clone(out)
				with[i] = append(slices.Clone(out[i]), x)
				assert.False(t, allPositive(spare(with)), "seed %d: launch %d could be bought at option %d, too", seed, i, x)
			}
		}
		assert.True(t, allPositive(spare(out)), "seed %d", seed)
	}
	assert.Positive(t, partly)
}

func allPositive(l ledger) bool {
	for _, n := range l {
		if n < 0 {
			return false
		}
	}
	return true
}

// Launches that could use the same share alike: equal ones get equal shares, and who needs less leaves more to others.
func TestLevels(t *testing.T) {
	cpu := account{"pool", "cpu"}
	assert.Equal(t, ledger{cpu: 4}, levels(ledger{cpu: 8}, []ledger{{cpu: 8}, {cpu: 8}}))
	assert.Equal(t, ledger{cpu: 6}, levels(ledger{cpu: 8}, []ledger{{cpu: 8}, {cpu: 2}}))
	assert.Equal(t, ledger{cpu: 8}, levels(ledger{cpu: 20}, []ledger{{cpu: 8}, {cpu: 2}, {}}))
}
