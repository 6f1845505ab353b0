package covering

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// usd is one USD per hour.
const usd = 1_000_000_000

// prove runs Resource and checks its result independently.
func prove(t *testing.T, in Input) Result {
	t.Helper()
	res := Resource(in)
	require.Len(t, res.Values, max(0, in.Dims))
	bound, ok := Check(res.Values, fixed.Scale, in)
	require.True(t, ok, "the worths %v do not prove anything", res.Values)
	require.Equal(t, bound, res.Bound)
	return res
}

func TestResource(t *testing.T) {
	pods := func(n int64, size ...int64) []Item { return []Item{{Size: size, Count: n}} }
	options := func(o ...Option) []Option { return o }
	small := Option{Cap: []int64{2000, 4 << 30}, Price: usd / 10}
	for name, tc := range map[string]struct {
		in   Input
		want int64
	}{
		"nothing at all":    {Input{}, 0},
		"no pods":           {Input{Dims: 2, Options: options(small)}, 0},
		"no options":        {Input{Dims: 2, Items: pods(3, 1000, 1<<30)}, 0},
		"negative count":    {Input{Dims: 2, Items: pods(-3, 1000, 1<<30), Options: options(small)}, 0},
		"half a machine":    {Input{Dims: 2, Items: pods(1, 1000, 1<<30), Options: options(small)}, usd / 20},
		"memory decides":    {Input{Dims: 2, Items: pods(3, 100, 4<<30), Options: options(small)}, 3 * usd / 10},
		"exactly divisible": {Input{Dims: 2, Items: pods(100, 2000, 4<<30), Options: options(small)}, 10 * usd},
		"rounds up":         {Input{Dims: 1, Items: pods(1, 1), Options: options(Option{Cap: []int64{3}, Price: 100})}, 34},
		"cheaper of two": {Input{Dims: 1, Items: pods(10, 1), Options: options(
			Option{Cap: []int64{1}, Price: 100}, Option{Cap: []int64{4}, Price: 300})}, 750},
		"two shapes complement each other": {Input{Dims: 2, Items: pods(10, 1, 1), Options: options(
			Option{Cap: []int64{2, 1}, Price: 3}, Option{Cap: []int64{1, 2}, Price: 3})}, 20},
		"a free option": {Input{Dims: 2, Items: pods(10, 1, 1), Options: options(
			Option{Cap: []int64{5, 5}, Price: 0}, Option{Cap: []int64{1, 1}, Price: 3})}, 0},
		"an option that gives one resource away": {Input{Dims: 2, Items: pods(10, 1, 1), Options: options(
			Option{Cap: []int64{5, 0}, Price: 0}, Option{Cap: []int64{1, 1}, Price: 3})}, 30},
		"a resource that nobody offers": {Input{Dims: 2, Items: pods(10, 1, 7), Options: options(
			Option{Cap: []int64{5, 0}, Price: 10})}, 20},
		"an option that offers nothing": {Input{Dims: 1, Items: pods(10, 1), Options: options(
			Option{Cap: []int64{0}, Price: 1}, Option{Cap: nil, Price: 0}, Option{Cap: []int64{1}, Price: 2})}, 20},
		"a negative capacity": {Input{Dims: 2, Items: pods(10, 1, 1), Options: options(
			Option{Cap: []int64{5, -5}, Price: 10}, Option{Cap: []int64{1, 1}, Price: 6})}, 60},
		"short and long vectors": {Input{Dims: 2, Items: []Item{{Size: []int64{1}, Count: 4}, {Size: []int64{1, 0, 99}, Count: 4}}, Options: options(
			Option{Cap: []int64{2, 0, 1}, Price: 5})}, 20},
		"room on nodes": {Input{Dims: 1, Items: pods(10, 1), Options: options(Option{Cap: []int64{1}, Price: 5}),
			Free: []Bin{{Cap: []int64{3}, Count: 2}}}, 20},
		"room for everything": {Input{Dims: 1, Items: pods(10, 1), Options: options(Option{Cap: []int64{1}, Price: 5}),
			Free: []Bin{{Cap: []int64{3}, Count: 4}}}, 0},
		"room of one resource only": {Input{Dims: 2, Items: pods(10, 1, 1), Options: options(Option{Cap: []int64{2, 1}, Price: 6}),
			Free: []Bin{{Cap: []int64{100, 0}, Count: 1}}}, 60},
		"bins without count": {Input{Dims: 1, Items: pods(10, 1), Options: options(Option{Cap: []int64{1}, Price: 5}),
			Free: []Bin{{Cap: []int64{3}, Count: 0}, {Cap: []int64{3}, Price: 1, Count: -4}}}, 50},
		"a reservation that is worth it": {Input{Dims: 1, Items: pods(10, 1), Options: options(Option{Cap: []int64{1}, Price: 5}),
			Free: []Bin{{Cap: []int64{2}, Price: 4, Count: 3}}}, 32},
		"a reservation that is not": {Input{Dims: 1, Items: pods(10, 1), Options: options(Option{Cap: []int64{1}, Price: 5}),
			Free: []Bin{{Cap: []int64{2}, Price: 11, Count: 3}}}, 50},
		"a reservation with more machines than pods": {Input{Dims: 1, Items: pods(10, 1), Options: options(Option{Cap: []int64{1}, Price: 5}),
			Free: []Bin{{Cap: []int64{2}, Price: 4, Count: 300}}}, 20},
		"a resource that only a reservation offers": {Input{Dims: 2, Items: append(pods(6, 1, 1), pods(6, 1, 0)...), Options: options(
			Option{Cap: []int64{4, 0}, Price: 8}), Free: []Bin{{Cap: []int64{2, 2}, Price: 30, Count: 3}}}, 102},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, prove(t, tc.in).Bound)
		})
	}
}

// The bound equals the best vertex of the polytope, found by trying all of them.
func TestResourceIsTheBestVertex(t *testing.T) {
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(11, seed))
		in := randomInput(rng)
		assert.Equal(t, bestVertex(in), prove(t, in).Bound, "%+v", in)
	}
}

func randomInput(rng *rand.Rand) Input {
	in := Input{Dims: 1 + rng.IntN(3)}
	vector := func(most int64, zeros bool) []int64 {
		v := make([]int64, in.Dims)
		for d := range v {
			v[d] = 1 + rng.Int64N(most)
			if zeros && rng.IntN(4) == 0 {
				v[d] = 0
			}
		}
		return v
	}
	most := []int64{4, 50, 1 << 40}[rng.IntN(3)]
	for range 1 + rng.IntN(3) {
		in.Items = append(in.Items, Item{Size: vector(most, true), Count: 1 + rng.Int64N(20)})
	}
	// One option offers everything, so that the program is bounded.
	in.Options = append(in.Options, Option{Cap: vector(most, false), Price: 1 + rng.Int64N(usd)})
	for range rng.IntN(7) {
		in.Options = append(in.Options, Option{Cap: vector(most, true), Price: 1 + rng.Int64N(usd)})
	}
	for range rng.IntN(4) {
		in.Free = append(in.Free, Bin{Cap: vector(most, true), Price: max(0, rng.Int64N(usd)-usd/3), Count: rng.Int64N(5)})
	}
	return in
}

// No packing, however lucky, is cheaper than the bound; tightening keeps that true
// and never loses anything.
func TestResourceIsBelowEveryPacking(t *testing.T) {
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(5, seed))
		in := randomInput(rng)
		plain, tight := prove(t, in).Bound, prove(t, in.Tighten()).Bound
		require.LessOrEqual(t, plain, tight, "%+v", in)
		for range 6 {
			if price, ok := randomPacking(rng, in); ok {
				require.LessOrEqual(t, tight, price, "%+v", in)
			}
		}
	}
}

// A realistic catalog is solved to the last nano-USD: the worths leave some options
// without any slack, and no bound of a subset of the worths is better.
func TestResourceOnACatalog(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 99))
		in := market(rng, 600, 4+int(seed)%7)
		full := prove(t, in)
		require.Positive(t, full.Bound)
		tight := 0
		for _, o := range in.Options {
			sum := new(big.Int)
			for d, c := range o.Cap {
				sum.Add(sum, new(big.Int).Mul(full.Values[d], big.NewInt(max(0, c))))
			}
			slack := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(o.Price), fixed.Scale), sum)
			if slack.Rsh(slack, fixed.Scale).Sign() == 0 {
				tight++
			}
		}
		assert.Positive(t, tight)
		for _, factor := range []float64{0.9, 1.1} {
			for d := range full.Values {
				duals := make([]fixed.Uint128, in.Dims)
				for k, v := range full.Values {
					duals[k] = fixed.OfBig(v)
				}
				f := new(big.Float).SetInt(full.Values[d])
				v, _ := f.Mul(f, big.NewFloat(factor)).Int(nil)
				duals[d] = fixed.OfBig(v)
				require.True(t, in.shrink(duals))
				demand, _ := in.demand()
				gratis, _ := in.gratis()
				assert.LessOrEqual(t, in.evaluate(duals, demand, gratis), full.Bound)
			}
		}
	}
}

func TestResourceIgnoresOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	in := market(rng, 400, 6)
	want := prove(t, in).Bound
	for range 5 {
		rng.Shuffle(len(in.Options), func(i, j int) { in.Options[i], in.Options[j] = in.Options[j], in.Options[i] })
		rng.Shuffle(len(in.Items), func(i, j int) { in.Items[i], in.Items[j] = in.Items[j], in.Items[i] })
		assert.Equal(t, want, prove(t, in).Bound)
	}
}

func TestResourceKeepsItsInput(t *testing.T) {
	in, same := market(rand.New(rand.NewPCG(4, 4)), 50, 5), market(rand.New(rand.NewPCG(4, 4)), 50, 5)
	Resource(in)
	Resource(in.Tighten())
	assert.Equal(t, same, in)
}

func TestResourceAtTheEdges(t *testing.T) {
	most := int64(math.MaxInt64)
	t.Run("bound beyond int64", func(t *testing.T) {
		in := Input{Dims: 1, Items: []Item{{Size: []int64{most}, Count: most}}, Options: []Option{{Cap: []int64{1}, Price: most}}}
		assert.Equal(t, most, prove(t, in).Bound)
	})
	t.Run("demand beyond int64", func(t *testing.T) {
		in := Input{Dims: 1, Items: []Item{{Size: []int64{1 << 62}, Count: 1 << 30}}, Options: []Option{{Cap: []int64{1 << 62}, Price: 7}}}
		assert.Equal(t, int64(7<<30), prove(t, in).Bound)
	})
	t.Run("demand beyond 128 bits", func(t *testing.T) {
		in := Input{Dims: 1, Options: []Option{{Cap: []int64{1}, Price: 1}}}
		for range 5 {
			in.Items = append(in.Items, Item{Size: []int64{most}, Count: most})
		}
		assert.Zero(t, prove(t, in).Bound)
		assert.Equal(t, in, in.Tighten())
	})
	t.Run("free capacity beyond 128 bits", func(t *testing.T) {
		in := Input{Dims: 1, Items: []Item{{Size: []int64{1}, Count: 1}}, Options: []Option{{Cap: []int64{1}, Price: 1}}}
		for range 5 {
			in.Free = append(in.Free, Bin{Cap: []int64{most}, Count: most})
		}
		assert.Zero(t, prove(t, in).Bound)
	})
	t.Run("a huge bin in a reservation", func(t *testing.T) {
		in := Input{Dims: 1, Items: []Item{{Size: []int64{1}, Count: 3}}, Options: []Option{{Cap: []int64{1}, Price: most}},
			Free: []Bin{{Cap: []int64{most}, Price: 1, Count: most}}}
		assert.Equal(t, int64(1), prove(t, in.Tighten()).Bound)
		assert.LessOrEqual(t, prove(t, in).Bound, int64(1))
	})
	t.Run("prices and sizes far apart", func(t *testing.T) {
		in := Input{Dims: 2, Items: []Item{{Size: []int64{1, most / 2}, Count: 2}}, Options: []Option{
			{Cap: []int64{1, 1}, Price: 1}, {Cap: []int64{1, most}, Price: most}, {Cap: []int64{most, 1}, Price: 1}}}
		assert.Positive(t, prove(t, in).Bound)
	})
	t.Run("negative prices", func(t *testing.T) {
		items := []Item{{Size: []int64{1}, Count: 1}}
		for _, in := range []Input{
			{Dims: 1, Items: items, Options: []Option{{Cap: []int64{5}, Price: -1}}},
			{Dims: 1, Items: items, Options: []Option{{Cap: []int64{5}, Price: 1}}, Free: []Bin{{Cap: []int64{1}, Price: -1, Count: 1}}},
		} {
			res := Resource(in)
			assert.Zero(t, res.Bound)
			_, ok := Check(res.Values, fixed.Scale, in)
			assert.False(t, ok)
		}
	})
	t.Run("negative dimensions", func(t *testing.T) {
		assert.Zero(t, Resource(Input{Dims: -1}).Bound)
	})
}

// Tightening turns half a machine into a whole one, where no pod could use the rest.
func TestTighten(t *testing.T) {
	in := Input{Dims: 2, Items: []Item{{Size: []int64{1000, 1 << 30}, Count: 1}},
		Options: []Option{{Cap: []int64{2000, 8 << 30}, Price: usd}, {Cap: []int64{-5}, Price: usd}},
		Free:    []Bin{{Cap: []int64{5000, 1}, Price: 3, Count: 2}}}
	out := in.Tighten()
	assert.Equal(t, []Option{{Cap: []int64{1000, 1 << 30}, Price: usd}, {Cap: []int64{0, 0}, Price: usd}}, out.Options)
	assert.Equal(t, []Bin{{Cap: []int64{1000, 1}, Price: 3, Count: 2}}, out.Free)
	in.Free, out.Free = nil, nil
	assert.Equal(t, int64(usd/2), prove(t, in).Bound)
	assert.Equal(t, int64(usd), prove(t, out).Bound)
}

func FuzzResource(f *testing.F) {
	f.Add(int64(1000), int64(1<<30), int64(7), int64(2000), int64(4<<30), int64(usd), int64(5), int64(9), int64(3), int64(2))
	f.Add(int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(1), int64(0), int64(1), int64(0), int64(-1))
	f.Add(int64(1), int64(1), int64(1), int64(1), int64(0), int64(0), int64(-4), int64(1), int64(1), int64(1))
	f.Fuzz(func(t *testing.T, s1, s2, n, c1, c2, p1, c3, c4, p2, m int64) {
		in := Input{Dims: 2, Items: []Item{{Size: []int64{s1, s2}, Count: n}},
			Options: []Option{{Cap: []int64{c1, c2}, Price: p1}, {Cap: []int64{c3, c4}, Price: p2}},
			Free:    []Bin{{Cap: []int64{c2, c3}, Price: p2, Count: m}}}
		for _, in := range []Input{in, in.Tighten()} {
			res := Resource(in)
			if p1 < 0 || p2 < 0 {
				if res.Bound != 0 {
					t.Errorf("bound %d with a negative price", res.Bound)
				}
				continue
			}
			if bound, ok := Check(res.Values, fixed.Scale, in); !ok || bound != res.Bound {
				t.Errorf("bound %d is not proven: %d %t", res.Bound, bound, ok)
			}
		}
	})
}
