package bound

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

const enough = 20_000_000

// usd is one USD per hour.
const usd = 1_000_000_000

// input is the market without the knowledge of who may use what.
func (m Market) input() covering.Input {
	in := covering.Input{Dims: m.Dims}
	usable := func(c *Choice) bool {
		found := false
		c.Users.Each(func(i int) { found = found || m.Classes[i].Count > 0 && fitsAlone(c.Cap, m.Classes[i].Size) })
		return found
	}
	for _, c := range m.Classes {
		in.Items = append(in.Items, covering.Item{Size: c.Size, Count: c.Count})
	}
	for i := range m.Options {
		if usable(&m.Options[i]) {
			in.Options = append(in.Options, covering.Option{Cap: m.Options[i].Cap, Price: m.Options[i].Price})
		}
	}
	for _, s := range m.Supplies {
		for i := range s.Members {
			if usable(&s.Members[i]) {
				in.Free = append(in.Free, covering.Bin{Cap: s.Members[i].Cap, Price: s.Members[i].Price, Count: s.Most(&s.Members[i])})
			}
		}
	}
	return in.Tighten()
}

// proven requires a bound to be proven, and to be no higher than the optimum.
func proven(t *testing.T, m Market, r Assigned, best int64) {
	t.Helper()
	bound, ok := proves(m, r)
	require.True(t, ok, "%+v", m)
	require.GreaterOrEqual(t, bound.Int64(), r.Bound, "%+v", m)
	require.LessOrEqual(t, r.Bound, best, "%+v", m)
}

// heldBy is the worth that a choice can hold at most, by a vector.
func heldBy(m Market, duals []*big.Int, c *Choice, v []*big.Int) *big.Int {
	caps := make([]*big.Int, m.Dims)
	for d := range caps {
		caps[d] = new(big.Int)
	}
	fits := func(i int) bool {
		for d, n := range m.Classes[i].Size {
			if n > 0 && n > c.Cap[d] {
				return false
			}
		}
		return c.Users.Has(i) && m.Classes[i].Count > 0
	}
	for i := range m.Classes {
		for d, n := range m.Classes[i].Size {
			if fits(i) {
				caps[d].Add(caps[d], new(big.Int).Mul(big.NewInt(n), big.NewInt(m.Classes[i].Count)))
			}
		}
	}
	sum := new(big.Int)
	for d := range caps {
		if have := big.NewInt(max(0, c.Cap[d])); have.Cmp(caps[d]) < 0 {
			caps[d] = have
		}
		sum.Add(sum, new(big.Int).Mul(caps[d], v[d]))
	}
	for i := range m.Classes {
		if !fits(i) {
			continue
		}
		k, excess := big.NewInt(m.Classes[i].Count), new(big.Int).Set(duals[i])
		if p := m.Classes[i].PerNode; p > 0 && k.Cmp(big.NewInt(p)) > 0 {
			k = big.NewInt(p)
		}
		for d, n := range m.Classes[i].Size {
			excess.Sub(excess, new(big.Int).Mul(v[d], big.NewInt(n)))
			if n > 0 {
				if most := new(big.Int).Quo(caps[d], big.NewInt(n)); most.Cmp(k) < 0 {
					k = most
				}
			}
		}
		if excess.Sign() > 0 {
			sum.Add(sum, k.Mul(k, excess))
		}
	}
	return sum
}

// proves checks a result from nothing but the market, by the book: for each option
// some vector says that it holds no more than it costs.
func proves(m Market, r Assigned) (bound *big.Int, ok bool) {
	total, own := together(m, r)
	r.Duals = own
	load := func(c *Choice, v []*big.Int) *big.Int {
		sum := heldBy(m, r.Duals, c, v)
		return sum.Sub(sum, new(big.Int).Lsh(big.NewInt(c.Price), fixed.Scale))
	}
	least := func(c *Choice) *big.Int {
		var best *big.Int
		for _, v := range r.Vectors {
			if over := load(c, v); best == nil || over.Cmp(best) < 0 {
				best = over
			}
		}
		if r.Filled && best.Sign() > 0 {
			price := new(big.Int).Lsh(big.NewInt(c.Price), fixed.Scale)
			if over := new(big.Int).Sub(dearest(m, c, r.Duals), price); over.Cmp(best) < 0 {
				best = over
			}
		}
		return best
	}
	for _, w := range r.Duals {
		if w.Sign() < 0 {
			return nil, false
		}
	}
	for i := range m.Options {
		if least(&m.Options[i]).Sign() > 0 {
			return nil, false
		}
	}
	for _, s := range m.Supplies {
		surplus := new(big.Int)
		for i := range s.Members {
			over := least(&s.Members[i])
			if over = ceilQuo(over.Mul(over, big.NewInt(s.Count)), max(s.Members[i].Use, 1)); over.Cmp(surplus) > 0 {
				surplus = over
			}
		}
		total.Sub(total, surplus)
	}
	return big.NewInt(fixed.Ceil(total)), true
}

// dearest tries every pattern of a machine for the one that is worth most.
func dearest(m Market, c *Choice, duals []*big.Int) *big.Int {
	left := slices.Clone(c.Cap)
	var try func(i int) *big.Int
	try = func(i int) *big.Int {
		if i == len(m.Classes) {
			return new(big.Int)
		}
		best := try(i + 1)
		if !c.Users.Has(i) {
			return best
		}
		class := &m.Classes[i]
		taken := int64(0)
		for taken < class.Count && (class.PerNode == 0 || taken < class.PerNode) && fitsAlone(left, class.Size) {
			taken++
			for d, n := range class.Size {
				left[d] -= n
			}
			worth := new(big.Int).Mul(duals[i], big.NewInt(taken))
			if worth.Add(worth, try(i+1)).Cmp(best) > 0 {
				best = worth
			}
		}
		for d, n := range class.Size {
			left[d] += n * taken
		}
		return best
	}
	return try(0)
}

// Assignment is the first step of [Pattern] alone: the assignment bound, from worths of resources, nil for none.
func Assignment(m Market, start []*big.Int, work int64, late func() bool) Assigned {
	a := prepare(&m, late)
	if a == nil {
		return Assigned{}
	}
	if len(m.Spreads) > 0 {
		return spreadBound(a, start, Effort{Work: work})
	}
	a.search(start, Effort{Work: work})
	return a.certify()
}

// No way to place the pods is cheaper than the bound, the bound is proven, and it is no
// worse than what worths of resources prove.
func TestAssignmentAgainstTheOptimum(t *testing.T) {
	solvable, tight, better := 0, 0, 0
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(7, seed))
		m := randomMarket(rng)
		best, ok := cheapest(m)
		if !ok {
			continue // nothing is claimed about plans that cannot be
		}
		resource := covering.Resource(m.input())
		r := Assignment(m, resource.Values, enough, nil)
		if r.Bound == 0 {
			require.LessOrEqual(t, resource.Bound, int64(1), "%+v", m)
			continue
		}
		solvable++
		proven(t, m, r, best)
		require.GreaterOrEqual(t, r.Bound, resource.Bound-1, "%+v", m)
		if r.Bound == best {
			tight++
		}
		if r.Bound > resource.Bound+resource.Bound/100 {
			better++
		}
	}
	t.Logf("%d bounds, %d equal the optimum, %d beat worths of resources", solvable, tight, better)
	assert.Positive(t, solvable)
	assert.Positive(t, tight)
	assert.Positive(t, better)
}

func TestAssignment(t *testing.T) {
	const cent = usd / 100
	small, large := []int64{1930, 7}, []int64{7910, 60}
	for name, tc := range map[string]struct {
		m    Market
		want int64
	}{
		"whole pods on whole machines": {Market{Dims: 2,
			Classes: []Class{{Size: []int64{1000, 1}, Count: 10}},
			Options: []Choice{{Cap: small, Price: 10 * cent, Users: row(true)}}}, 100 * cent},
		"half of the pods may have cheap machines": {Market{Dims: 2,
			Classes: []Class{{Size: []int64{965, 1}, Count: 10}, {Size: []int64{965, 1}, Count: 10}},
			Options: []Choice{{Cap: small, Price: 2 * cent, Users: row(true, false)}, {Cap: small, Price: 10 * cent, Users: row(true, true)}}}, 5*2*cent + 5*10*cent},
		"a cheap machine that is too small for most": {Market{Dims: 2,
			Classes: []Class{{Size: []int64{1900, 7}, Count: 4}, {Size: []int64{200, 1}, Count: 1}},
			Options: []Choice{{Cap: []int64{200, 1}, Price: 1, Users: row(true, true)}, {Cap: small, Price: 10 * cent, Users: row(true, true)}}}, 40*cent + 1},
		"one pod of a kind to a machine": {Market{Dims: 2,
			Classes: []Class{{Size: []int64{100, 1}, Count: 6, PerNode: 1}},
			Options: []Choice{{Cap: large, Price: 30 * cent, Users: row(true)}, {Cap: small, Price: 10 * cent, Users: row(true)}}}, 60 * cent},
		"room on nodes comes off": {Market{Dims: 2,
			Classes:  []Class{{Size: []int64{965, 0}, Count: 10}},
			Options:  []Choice{{Cap: small, Price: 10 * cent, Users: row(true)}},
			Supplies: []Supply{{Count: 1, Members: []Choice{{Cap: []int64{1500, 0}, Price: 0, Users: row(true)}}}, {Count: 1, Members: []Choice{{Cap: []int64{900, 0}, Price: 0, Users: row(true)}}}}}, 45 * cent},
		"a node that the dear pods cannot use": {Market{Dims: 2,
			Classes:  []Class{{Size: []int64{965, 0}, Count: 2}, {Size: []int64{965, 0}, Count: 2}},
			Options:  []Choice{{Cap: small, Price: 10 * cent, Users: row(true, true)}},
			Supplies: []Supply{{Count: 1, Members: []Choice{{Cap: []int64{9999, 0}, Price: 0, Users: row(true, false)}}}}}, 10 * cent},
		"a reservation has so many machines": {Market{Dims: 2,
			Classes:  []Class{{Size: []int64{1930, 0}, Count: 10}},
			Options:  []Choice{{Cap: small, Price: 10 * cent, Users: row(true)}},
			Supplies: []Supply{{Count: 3, Members: []Choice{{Cap: small, Price: cent, Users: row(true)}}}}}, 73 * cent},
		"shapes that draw on one reservation share it": {Market{Dims: 2,
			Classes:  []Class{{Size: []int64{1930, 0}, Count: 10}},
			Options:  []Choice{{Cap: small, Price: 10 * cent, Users: row(true)}},
			Supplies: []Supply{{Count: 3, Members: []Choice{{Cap: small, Price: cent, Users: row(true)}, {Cap: []int64{1950, 3}, Price: 2 * cent, Users: row(true)}}}}}, 73 * cent},
		"machines take different amounts of a reservation": {Market{Dims: 2,
			Classes:  []Class{{Size: []int64{1930, 0}, Count: 10}},
			Options:  []Choice{{Cap: small, Price: 10 * cent, Users: row(true)}},
			Supplies: []Supply{{Count: 600, Members: []Choice{{Cap: small, Price: cent, Users: row(true), Use: 300}, {Cap: large, Price: 2 * cent, Users: row(true), Use: 400}}}}}, 43 * cent},
		"everything fits on nodes": {Market{Dims: 1,
			Classes:  []Class{{Size: []int64{1}, Count: 10}},
			Options:  []Choice{{Cap: []int64{5}, Price: 10 * cent, Users: row(true)}},
			Supplies: []Supply{{Count: 1, Members: []Choice{{Cap: []int64{10}, Price: 0, Users: row(true)}}}}}, 0},
		"free machines": {Market{Dims: 1,
			Classes: []Class{{Size: []int64{1}, Count: 10}},
			Options: []Choice{{Cap: []int64{5}, Price: 0, Users: row(true)}}}, 0},
		"no pods":     {Market{Dims: 1, Options: []Choice{{Cap: []int64{5}, Price: 1, Users: row()}}}, 0},
		"no machines": {Market{Dims: 1, Classes: []Class{{Size: []int64{1}, Count: 10}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			start := covering.Resource(tc.m.input())
			assert.Equal(t, tc.want, max(start.Bound, Assignment(tc.m, start.Values, enough, nil).Bound))
		})
	}
}

// More work never finds less by more than rounding, and no work finds what the start
// says.
func TestAssignmentWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 78))
	for range 40 {
		m := largeMarket(rng, 40, 60)
		start := covering.Resource(m.input())
		least := Assignment(m, start.Values, 0, nil)
		require.GreaterOrEqual(t, least.Bound, start.Bound-1)
		most := Assignment(m, start.Values, enough, nil)
		require.GreaterOrEqual(t, most.Bound, least.Bound)
		bound, ok := proves(m, most)
		require.True(t, ok)
		require.Equal(t, most.Bound, bound.Int64())
	}
}

// Wherever the search is stopped, what it has is proven.
func TestAssignmentStopsWhenLate(t *testing.T) {
	m := largeMarket(rand.New(rand.NewPCG(7, 81)), 40, 60)
	start := covering.Resource(m.input())
	calls, bounds := 0, map[int64]bool{}
	for limit := 0; calls >= limit; limit++ {
		calls = 0
		r := Assignment(m, start.Values, enough, func() bool {
			calls++
			return calls > limit
		})
		require.LessOrEqual(t, calls, limit+2, "it stops soon")
		if limit == 0 {
			require.Zero(t, r.Bound)
			continue
		}
		bound, ok := proves(m, r)
		require.True(t, ok)
		require.Equal(t, r.Bound, bound.Int64())
		bounds[r.Bound] = true
	}
	assert.Greater(t, len(bounds), 2, "time finds better bounds")
	assert.True(t, bounds[Assignment(m, start.Values, enough, nil).Bound])
}

func TestAssignmentChangesNothing(t *testing.T) {
	m, same := largeMarket(rand.New(rand.NewPCG(7, 79)), 20, 30), largeMarket(rand.New(rand.NewPCG(7, 79)), 20, 30)
	repeats(t, func() Assigned { return Assignment(m, nil, enough, nil) })
	assert.Equal(t, same, m)
}

// repeats checks that a bound is the same, proof and all, when it is asked for again.
func repeats(t *testing.T, bound func() Assigned) {
	t.Helper()
	first, err := json.Marshal(bound())
	require.NoError(t, err)
	again, err := json.Marshal(bound())
	require.NoError(t, err)
	assert.JSONEq(t, string(first), string(again))
}

// What is done to a market says how its bound must change. Rounding may cost a few
// parts in a billion.
func TestAssignmentRelations(t *testing.T) {
	atMost := func(a, b int64) bool { return float64(a) <= float64(b)*(1+1e-6)+2 }
	for name, relation := range map[string]struct {
		change func(rng *rand.Rand, m *Market)
		holds  func(before, after int64) bool
	}{
		"another option": {func(rng *rand.Rand, m *Market) {
			o := randomMarketOption(rng, *m)
			o.Price = 1 + rng.Int64N(usd)
			m.Options = append(m.Options, o)
		}, func(before, after int64) bool { return atMost(after, before) }},
		"an option twice": {func(rng *rand.Rand, m *Market) {
			m.Options = append(m.Options, m.Options[rng.IntN(len(m.Options))])
		}, func(before, after int64) bool { return before == after }},
		"more pods": {func(_ *rand.Rand, m *Market) { m.Classes[0].Count++ },
			func(before, after int64) bool { return atMost(before, after) }},
		"dearer options": {func(rng *rand.Rand, m *Market) {
			for i := range m.Options {
				m.Options[i].Price += rng.Int64N(usd)
			}
		}, func(before, after int64) bool { return atMost(before, after) }},
		"pods that may use less": {func(rng *rand.Rand, m *Market) {
			m.Options[0].Users = m.Options[0].Users.Clone()
			m.Options[0].Users.Clear(rng.IntN(len(m.Classes)))
		}, func(before, after int64) bool { return atMost(before, after) }},
		"another node": {func(_ *rand.Rand, m *Market) {
			m.Supplies = append(m.Supplies, Supply{Count: 1, Members: []Choice{{Cap: m.Options[0].Cap, Users: m.Options[0].Users}}})
		}, func(before, after int64) bool { return atMost(after, before) }},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(17, 5))
			positive := 0
			for range 300 {
				m := randomMarket(rng)
				if _, ok := cheapest(m); !ok {
					continue
				}
				start := covering.Resource(m.input())
				before := max(start.Bound, Assignment(m, start.Values, enough, nil).Bound)
				relation.change(rng, &m)
				if _, ok := cheapest(m); !ok {
					continue
				}
				start = covering.Resource(m.input())
				after := max(start.Bound, Assignment(m, start.Values, enough, nil).Bound)
				require.True(t, relation.holds(before, after), "%d became %d\n%+v", before, after, m)
				if before > 0 {
					positive++
				}
			}
			assert.Positive(t, positive)
		})
	}
}

// Numbers at the edges of their types give a bound that is proven, or none.
func TestAssignmentAtTheEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 80))
	for range 400 {
		m := randomMarket(rng)
		huge := func(v *int64) {
			if *v > 0 && rng.IntN(3) == 0 {
				*v <<= rng.IntN(62)
				*v = max(*v, 0)
			}
		}
		for i := range m.Classes {
			huge(&m.Classes[i].Count)
			for d := range m.Classes[i].Size {
				huge(&m.Classes[i].Size[d])
			}
		}
		for i := range m.Options {
			huge(&m.Options[i].Price)
			for d := range m.Options[i].Cap {
				huge(&m.Options[i].Cap[d])
			}
		}
		start := covering.Resource(m.input())
		if r := Assignment(m, start.Values, 1_000_000, nil); r.Bound > 0 {
			proven(t, m, r, math.MaxInt64)
		}
	}
}

func FuzzAssignment(f *testing.F) {
	f.Add(uint64(1), int64(3), int64(100))
	f.Add(uint64(2), int64(1<<40), int64(1))
	f.Add(uint64(3), int64(0), int64(1<<62))
	f.Fuzz(func(t *testing.T, seed uint64, size, price int64) {
		m := randomMarket(rand.New(rand.NewPCG(seed, 0)))
		m.Classes[0].Size[0], m.Options[0].Price = size, price
		r := Assignment(m, nil, 1_000_000, nil)
		if r.Bound == 0 {
			return
		}
		if bound, ok := proves(m, r); !ok || bound.Int64() < r.Bound {
			t.Errorf("bound %d is not proven: %v %t", r.Bound, bound, ok)
		}
	})
}
