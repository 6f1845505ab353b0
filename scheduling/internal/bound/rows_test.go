package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where many classes are alike they are merged to look for cases. What is proven is proven of the
// classes themselves, and no plan is cheaper.
func TestCasesOfMergedClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	better := 0
	for range 8 {
		m := manySingles(rng)
		a := prepare(&m, nil)
		a.search(Resource(m.input()).Values, Effort{Work: 20_000_000})
		require.NotNil(t, a.divide(0).merged)
		before := a.certify()
		r := a.byRows(before, 60_000_000, 1<<60)
		require.GreaterOrEqual(t, r.Bound, before.Bound)
		require.LessOrEqual(t, r.Bound, planned(m, rng))
		if r.Parted != nil {
			better++
			casesProve(t, m, r, nil, r.Bound)
		}
	}
	assert.Positive(t, better)
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
