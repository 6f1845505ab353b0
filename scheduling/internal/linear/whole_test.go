package linear

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cheapestWhole is the least that columns cost which have together what is asked, by trying all
// numbers of each.
func cheapestWhole(cost, have, asked []float64, from int, best float64) float64 {
	missing := false
	for _, n := range asked {
		missing = missing || n > 0
	}
	if !missing {
		return 0
	}
	for k := from; k < len(cost); k++ {
		if cost[k] >= best {
			continue
		}
		rest := make([]float64, len(asked))
		for i, n := range asked {
			rest[i] = n - have[k*len(asked)+i]
		}
		best = min(best, cost[k]+cheapestWhole(cost, have, rest, k, best-cost[k]))
	}
	return best
}

func TestWholeColumnsAreCheap(t *testing.T) {
	const cheapPercent = 97 // some need not buy what the program buys whole
	cheap, problems := 0, 400
	for seed := range uint64(problems) {
		r := rand.New(rand.NewPCG(seed, 3))
		rows, columns := 1+r.IntN(4), 1+r.IntN(4)
		asked, have, shares, cost := make([]float64, rows), []float64{}, []float64{}, []float64{}
		for i := range asked {
			asked[i] = float64(1 + r.IntN(15))
		}
		for range columns {
			cost = append(cost, float64(1+r.IntN(40)))
			for i := range asked {
				n := float64(1 + r.IntN(8))
				have, shares = append(have, n), append(shares, min(1, n/asked[i]))
			}
		}
		x := NewWhole(rows, cost, shares)
		require.NotNil(t, x)
		found := x.Find(1e18, 10_000)
		require.NotNil(t, found, "seed %d", seed)
		sum, rest := 0.0, append([]float64(nil), asked...)
		for _, k := range found {
			sum += cost[k]
			for i := range rest {
				rest[i] -= have[k*rows+i]
			}
		}
		for _, n := range rest {
			assert.LessOrEqual(t, n, 1e-6, "seed %d", seed)
		}
		want := cheapestWhole(cost, have, asked, 0, 1<<40)
		require.GreaterOrEqual(t, sum, want, "seed %d", seed)
		assert.Nil(t, x.Find(want, 10_000), "nothing is cheaper than the cheapest")
		assert.Equal(t, found, x.Find(1e18, 10_000), "a search leaves nothing behind")
		if sum == want {
			cheap++
		}
	}
	assert.GreaterOrEqual(t, cheap*100, problems*cheapPercent)
}

func TestWholeColumnsThatCannotCover(t *testing.T) {
	assert.Nil(t, NewWhole(0, nil, nil))
	assert.Nil(t, NewWhole(2, []float64{1}, []float64{1, 0}), "no column has the second row")
}
