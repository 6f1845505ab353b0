package covering

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clone copies an input down to its vectors.
func clone(in Input) Input {
	out := Input{Dims: in.Dims}
	for _, it := range in.Items {
		out.Items = append(out.Items, Item{Size: slices.Clone(it.Size), Count: it.Count})
	}
	for _, o := range in.Options {
		out.Options = append(out.Options, Option{Cap: slices.Clone(o.Cap), Price: o.Price})
	}
	for _, f := range in.Free {
		out.Free = append(out.Free, Bin{Cap: slices.Clone(f.Cap), Price: f.Price, Count: f.Count})
	}
	return out
}

// eachVector calls f with every vector of an input.
func eachVector(in Input, f func([]int64)) {
	for _, it := range in.Items {
		f(it.Size)
	}
	for _, o := range in.Options {
		f(o.Cap)
	}
	for _, b := range in.Free {
		f(b.Cap)
	}
}

// Each change of an input changes its bound in a known way.
func TestResourceRelations(t *testing.T) {
	type change func(rng *rand.Rand, in *Input)
	for name, relation := range map[string]struct {
		change change
		holds  func(before, after int64) bool
	}{
		"another unit of a resource": {
			func(rng *rand.Rand, in *Input) {
				d := rng.IntN(in.Dims)
				eachVector(*in, func(v []int64) { v[d] *= 1024 })
			},
			func(before, after int64) bool { return before == after },
		},
		"resources in another order": {
			func(_ *rand.Rand, in *Input) { eachVector(*in, slices.Reverse) },
			func(before, after int64) bool { return before == after },
		},
		"a resource that nobody wants": {
			func(rng *rand.Rand, in *Input) {
				in.Dims++
				for i := range in.Options {
					in.Options[i].Cap = append(in.Options[i].Cap, rng.Int64N(100))
				}
			},
			func(before, after int64) bool { return before == after },
		},
		"items split in two": {
			func(_ *rand.Rand, in *Input) {
				for _, it := range slices.Clone(in.Items) {
					in.Items = append(in.Items, Item{Size: it.Size, Count: it.Count / 2})
				}
				for i := range len(in.Items) / 2 {
					in.Items[i].Count -= in.Items[i].Count / 2
				}
			},
			func(before, after int64) bool { return before == after },
		},
		"an option twice": {
			func(rng *rand.Rand, in *Input) {
				in.Options = append(in.Options, in.Options[rng.IntN(len(in.Options))])
			},
			func(before, after int64) bool { return before == after },
		},
		"a reservation at the price of an option": {
			func(rng *rand.Rand, in *Input) {
				o := in.Options[rng.IntN(len(in.Options))]
				in.Free = append(in.Free, Bin{Cap: o.Cap, Price: o.Price, Count: 1 + rng.Int64N(9)})
			},
			func(before, after int64) bool { return before == after },
		},
		"a bin split in two": {
			func(_ *rand.Rand, in *Input) {
				for _, f := range slices.Clone(in.Free) {
					in.Free = append(in.Free, Bin{Cap: f.Cap, Price: f.Price, Count: f.Count / 2})
				}
				for i := range len(in.Free) / 2 {
					in.Free[i].Count -= in.Free[i].Count / 2
				}
			},
			func(before, after int64) bool { return before == after },
		},
		"prices tripled": {
			func(_ *rand.Rand, in *Input) {
				for i := range in.Options {
					in.Options[i].Price *= 3
				}
				for i := range in.Free {
					in.Free[i].Price *= 3
				}
			},
			// Both bounds are rounded up.
			func(before, after int64) bool { return 3*before-2 <= after && after <= 3*before || before == after },
		},
		"more pods": {
			func(rng *rand.Rand, in *Input) { in.Items[rng.IntN(len(in.Items))].Count += 1 + rng.Int64N(5) },
			func(before, after int64) bool { return before <= after },
		},
		"another option": {
			func(rng *rand.Rand, in *Input) {
				in.Options = append(in.Options, Option{Cap: randomInput(rng).Options[0].Cap, Price: 1 + rng.Int64N(usd)})
			},
			func(before, after int64) bool { return before >= after },
		},
		"an option less": {
			func(_ *rand.Rand, in *Input) { in.Options = in.Options[:1] },
			func(before, after int64) bool { return before <= after },
		},
		"dearer options": {
			func(rng *rand.Rand, in *Input) {
				for i := range in.Options {
					in.Options[i].Price += rng.Int64N(1000)
				}
			},
			func(before, after int64) bool { return before <= after },
		},
		"more room on nodes": {
			func(rng *rand.Rand, in *Input) {
				in.Free = append(in.Free, Bin{Cap: in.Options[0].Cap, Count: 1 + rng.Int64N(2)})
			},
			func(before, after int64) bool { return before >= after },
		},
		"larger machines": {
			func(rng *rand.Rand, in *Input) {
				for _, o := range in.Options {
					o.Cap[rng.IntN(in.Dims)] += rng.Int64N(10)
				}
			},
			func(before, after int64) bool { return before >= after },
		},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(17, 4))
			positive := 0
			for range 200 {
				in := randomInput(rng)
				changed := clone(in)
				relation.change(rng, &changed)
				before, after := prove(t, in).Bound, prove(t, changed).Bound
				require.True(t, relation.holds(before, after), "%d became %d\n%+v\n%+v", before, after, in, changed)
				if before > 0 {
					positive++
				}
			}
			assert.Greater(t, positive, 100, "most bounds must say something")
		})
	}
}

// Cutting capacities to the demand a second time changes nothing.
func TestTightenTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 5))
	for range 200 {
		once := randomInput(rng).Tighten()
		assert.Equal(t, once, once.Tighten())
	}
}

// The bound of one pod is the price of the cheapest machine that holds it, once capacity beyond the pod is cut off.
func TestResourceOfOnePod(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 6))
	for range 300 {
		in := randomInput(rng)
		in.Free = nil
		in.Items = []Item{{Size: make([]int64, in.Dims), Count: 1}}
		for d := range in.Dims {
			in.Items[0].Size[d] = in.Options[0].Cap[d]
		}
		var fitting []Option
		for _, o := range in.Options {
			if holds(o.Cap, in.Items[0].Size) {
				fitting = append(fitting, o)
			}
		}
		in.Options = fitting // as callers do: options that hold no pod only lower the bound
		cheapest := in.Options[0].Price
		for _, o := range in.Options {
			cheapest = min(cheapest, o.Price)
		}
		assert.Equal(t, cheapest, prove(t, in.Tighten()).Bound, "%+v", in)
	}
}

func holds(room, size []int64) bool {
	for d, n := range size {
		if n > room[d] {
			return false
		}
	}
	return true
}
