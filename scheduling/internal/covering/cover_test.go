package covering

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func coverInput(wanted []int64, options []Option, free ...Bin) Input {
	return Input{Dims: len(wanted), Items: []Item{{Size: wanted, Count: 1}}, Options: options, Free: free}
}

func TestCover(t *testing.T) {
	large, small := Option{Cap: []int64{10, 20}, Price: 100}, Option{Cap: []int64{2, 4}, Price: 26}
	for _, tt := range []struct {
		name    string
		in      Input
		most    int64
		choices int
		want    int64
	}{
		{"whole machines", coverInput([]int64{21, 0}, []Option{large, small}), 1000, 1000, 226},
		{"the scarcer resource counts", coverInput([]int64{1, 47}, []Option{large, small}), 1000, 1000, 252},
		{"one more of the large", coverInput([]int64{28, 0}, []Option{large, small}), 1000, 1000, 300},
		{"no more than asked for", coverInput([]int64{28, 0}, []Option{large, small}), 290, 1000, 290},
		{"nothing is wanted", coverInput([]int64{0, 0}, []Option{large}), 1000, 1000, 0},
		{"nobody has it", coverInput([]int64{5, 5}, []Option{{Cap: []int64{5, 0}, Price: 1}}), 1000, 1000, 1000},
		{"running nodes have some", coverInput([]int64{21, 0}, []Option{large, small}, Bin{Cap: []int64{1, 1}, Count: 1}), 1000, 1000, 200},
		{"running nodes have all", coverInput([]int64{21, 0}, []Option{large, small}, Bin{Cap: []int64{1, 1}, Count: 21}), 1000, 1000, 0},
		{"a reservation", coverInput([]int64{21, 0}, []Option{large, small}, Bin{Cap: []int64{10, 20}, Price: 10, Count: 1}), 1000, 1000, 136},
		{"machines for nothing", coverInput([]int64{21, 0}, []Option{{Cap: []int64{1, 1}}}), 1000, 1000, 0},
		{"too few choices", coverInput([]int64{21, 0}, []Option{large, small}), 1000, 2, 0},
		{"no bound to stay below", coverInput([]int64{21, 0}, []Option{large, small}), 0, 1000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Cover(tt.in, Resource(tt.in.Tighten()).Values, tt.most, tt.choices))
		})
	}
	in := coverInput([]int64{1}, []Option{{Cap: []int64{1}, Price: 1}})
	assert.Zero(t, Cover(in, nil, 10, 100), "values of another problem")
	in.Items[0].Size[0] = 1 << 62
	in.Items[0].Count = 9
	assert.Zero(t, Cover(in, []*big.Int{new(big.Int)}, 10, 100), "more than can be counted")
}

// Against every choice of up to five machines, and never below the bound on resources.
func TestCoverAgainstEveryChoice(t *testing.T) {
	found := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		wanted := []int64{1 + rng.Int64N(30), rng.Int64N(30)}
		var options []Option
		for range 1 + rng.IntN(4) {
			options = append(options, Option{Cap: []int64{1 + rng.Int64N(12), 1 + rng.Int64N(12)}, Price: 1 + rng.Int64N(40)})
		}
		in := coverInput(wanted, options)
		best := int64(1 << 40)
		var try func(from int, left []int64, cost int64, depth int)
		try = func(from int, left []int64, cost int64, depth int) {
			if left[0] <= 0 && left[1] <= 0 {
				best = min(best, cost)
				return
			}
			for i := from; i < len(options) && depth < 5; i++ {
				try(i, []int64{left[0] - options[i].Cap[0], left[1] - options[i].Cap[1]}, cost+options[i].Price, depth+1)
			}
		}
		try(0, wanted, 0, 0)
		r := Resource(in.Tighten())
		got := Cover(in, r.Values, best, 100_000)
		assert.LessOrEqual(t, got, best, "seed %d", seed)
		assert.GreaterOrEqual(t, got, r.Bound, "seed %d", seed)
		if best < 1<<40 && got == best {
			found++
		}
		// Any values do, and fewer choices never prove more.
		other := []*big.Int{big.NewInt(rng.Int64N(1 << 40)), big.NewInt(rng.Int64N(1 << 40))}
		assert.Equal(t, got, Cover(in, other, best, 1_000_000), "seed %d", seed)
		assert.LessOrEqual(t, Cover(in, r.Values, best, 5), got, "seed %d", seed)
	}
	assert.Greater(t, found, 150)
}
