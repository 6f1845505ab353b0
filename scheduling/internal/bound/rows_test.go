package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where many classes are alike they are merged to look for cases. What is proven is proven of the
// classes themselves, and no plan is cheaper.
func TestCasesOfMergedClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	better := 0
	for range race.Fewer(8, 3) {
		m := manySingles(rng)
		a := prepare(&m, nil)
		a.search(Resource(m.input()).Values, Effort{Work: 20_000_000})
		require.NotNil(t, a.divide(0).merged)
		before := a.certify()
		r := a.byRows(before, 60_000_000, 1<<60)
		require.GreaterOrEqual(t, r.Bound, before.Bound)
		require.LessOrEqual(t, r.Bound, planned(m, rng))
		if r.Cases != nil {
			better++
			casesProve(t, m, r, nil, r.Bound)
		}
	}
	assert.Positive(t, better)
}

// Machines make others pointless that are dearer by no more than up to the next price that is
// counted, whatever was asked before.
func TestAmongRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 9))
	for range 20 {
		m := manySingles(rng)
		d := prepare(&m, nil)
		d.search(Resource(m.input()).Values, Effort{Work: 20_000_000})
		x := d.divide(0)
		for range 10 {
			var counts []count
			for range rng.IntN(4) {
				from := x.choices[rng.IntN(len(x.choices))].Price
				counts = append(counts, count{kindCount: kindCount{from: from}, number: 1, least: rng.IntN(3) > 0})
			}
			var want []int
			for i, c := range x.choices {
				better := func(b Choice) bool {
					return b.Price <= c.Price && roomyAll(b.Cap, c.Cap) && b.Users.Contains(c.Users) && !slices.ContainsFunc(counts, func(n count) bool {
						return n.least && b.Price < n.from && c.Price >= n.from
					})
				}
				if !slices.ContainsFunc(x.choices[:i], better) {
					want = append(want, i)
				}
			}
			require.Equal(t, want, x.amongRows(counts))
		}
	}
}

// Where no machine is ever full of pods, cases are sought without places for pods.
func TestCasesWithoutWhatIsNeverShort(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 3))
	m := manySingles(rng)
	m.Dims = 3
	for c := range m.Classes {
		m.Classes[c].Size = append(m.Classes[c].Size, 1)
	}
	for i := range m.Options {
		m.Options[i].Cap = append(m.Options[i].Cap, m.Options[i].Cap[0])
	}
	a := prepare(&m, nil)
	a.search(Resource(m.input()).Values, Effort{Work: 20_000_000})
	d := a.divide(0)
	require.NotNil(t, d.merged)
	assert.Equal(t, []int{0, 1, 2}, d.all.dims)
	assert.Equal(t, []int{0, 1}, d.alike.dims)
	assert.Equal(t, []float64{3, 4}, d.narrowed([]float64{3, 4, 5}))
	assert.Equal(t, []float64{3, 4, 0}, d.widened([]float64{3, 4}))
	before := a.certify()
	r := a.byRows(before, 60_000_000, 1<<60)
	require.NotNil(t, r.Cases)
	require.LessOrEqual(t, r.Bound, planned(m, rng))
	casesProve(t, m, r, nil, r.Bound)
}

// partedMarket is a search for cases of many classes that has come some way.
func partedMarket(t *testing.T, rounds int) (*parting, *twig) {
	t.Helper()
	m := manySingles(rand.New(rand.NewPCG(73, 3)))
	a := prepare(&m, nil)
	a.search(Resource(m.input()).Values, Effort{Work: 20_000_000})
	d := a.divide(1 << 40)
	x := d.root(a)
	for range rounds {
		for !x.done {
			d.solve(x)
		}
		by := d.halfway(x, math.Inf(1))
		require.Positive(t, by.from)
		counts := by.counts()
		fewer, more := d.twig(x, counts[0]), d.twig(x, counts[1])
		if x = more; fewer.value < more.value {
			x = fewer
		}
	}
	return d, x
}

// The cuts that machines miss are all that it takes: all of them together prove no more.
func TestCutsThatMatter(t *testing.T) {
	d, x := partedMarket(t, 5)
	require.Greater(t, len(d.cuts), 5)
	d.weigh(x)
	m := d.program(d.cuts, x.counts, x.machines)
	assert.InEpsilon(t, d.solved(m, len(x.machines)), x.value, 1e-5)
	proving := 0
	for _, w := range x.weights {
		if w > 0 {
			proving++
		}
	}
	assert.Less(t, proving, len(d.cuts))
}

// Of some ways to tell a case apart the one is taken that proves more of both halves than the
// others, not the one that is furthest from a whole number of the dearest machines.
func TestHalves(t *testing.T) {
	parts := map[int64]float64{10: 2.5, 100: 1.4, 1000: 3.001, 50: 2}
	assert.Equal(t, []half{{100, 1}, {10, 2}}, partly(parts))
	assert.Equal(t, [2]count{{kindCount: kindCount{from: 100}, number: 1}, {kindCount: kindCount{from: 100}, number: 2, least: true}}, half{100, 1}.counts())
	better := 0
	for rounds := range 8 {
		d, x := partedMarket(t, rounds)
		for !x.done {
			d.solve(x)
		}
		gain := func(h half) float64 {
			counts := h.counts()
			return (d.twig(x, counts[0]).value - x.value) * (d.twig(x, counts[1]).value - x.value)
		}
		by, first := d.halfway(x, math.Inf(1)), partly(x.part)[0]
		if by != first && gain(by) > 1.1*gain(first) && gain(by) > 1e-12 {
			better++
		}
		x.part, x.mix = nil, nil
		assert.Zero(t, d.halfway(x, math.Inf(1)))
	}
	t.Logf("%d of 8 are told apart otherwise, and better", better)
	assert.Positive(t, better)
}

// Where a half cannot be proven, the case itself has to do.
func TestHalvesThatCannotBeProven(t *testing.T) {
	d, of := partedMarket(t, 4)
	x := d.grow(of.few, math.Inf(1), func() bool { return false })
	require.NotNil(t, x.fewer)
	p := &caseProof{parting: d, whole: make([]*wholeCut, len(d.cuts))}
	out, all, ok := p.proof(x)
	require.True(t, ok)
	require.NotNil(t, out.Fewer)
	x.fewer = &bough{counts: x.fewer.counts, weights: x.fewer.weights, tolls: []float64{1e300}}
	out, one, ok := p.proof(x)
	require.True(t, ok)
	require.Nil(t, out.Fewer)
	assert.Positive(t, one)
	assert.LessOrEqual(t, float64(one), float64(all)*(1+1e-6))
}

// manySingles has so many classes of one pod each that they are merged, in three zones with a
// few sizes of machines at odd prices.
func manySingles(rng *rand.Rand) Market {
	m := Market{Dims: 2}
	const pods, zones = 160, 3
	home := make([]int, pods)
	for c := range pods {
		m.Classes = append(m.Classes, Class{Size: []int64{1 + rng.Int64N(40), 1 + rng.Int64N(90)}, Count: 1, Few: true})
		home[c] = max(-1, rng.IntN(8)-5)
	}
	for zone := range zones {
		for size := int64(1); size <= 16; size *= 2 {
			for kind := int64(1); kind <= 2; kind++ {
				o := Choice{Cap: []int64{60 * size, 100 * size * kind}, Price: size * (usd/10 + kind*usd/50 + rng.Int64N(usd/20)), Users: model.NewBits(pods)}
				for c := range pods {
					if home[c] < 0 || home[c] == zone {
						o.Users.Set(c)
					}
				}
				m.Options = append(m.Options, o)
			}
		}
	}
	return m
}

// planned is the price of the cheapest of some plans that take the first machine with room.
func planned(m Market, rng *rand.Rand) int64 {
	best := int64(math.MaxInt64)
	for range 200 {
		price, rooms, kinds := int64(0), [][]int64(nil), []int(nil)
		for _, c := range rng.Perm(len(m.Classes)) {
			size := m.Classes[c].Size
			at := -1
			for k := range kinds {
				if m.Options[kinds[k]].Users.Has(c) && roomy(rooms[k], size) {
					at = k
					break
				}
			}
			for at < 0 {
				if i := rng.IntN(len(m.Options)); m.Options[i].Users.Has(c) && roomy(m.Options[i].Cap, size) {
					at, kinds, rooms, price = len(kinds), append(kinds, i), append(rooms, slices.Clone(m.Options[i].Cap)), price+m.Options[i].Price
				}
			}
			for d, n := range size {
				rooms[at][d] -= n
			}
		}
		best = min(best, price)
	}
	return best
}
