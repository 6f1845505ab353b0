package bound

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
)

// inCases is the bound that cases come to, whatever is known before.
func inCases(m Market) (before, after Assigned) {
	a := prepare(&m, nil)
	if a == nil {
		return Assigned{}, Assigned{}
	}
	a.search(covering.Resource(m.input()).Values, Effort{Work: enough})
	before = a.certify()
	known := before
	known.rest = a
	return before, known.Divided(Effort{Cases: 100 * enough, Wanted: 1 << 60})
}

// casesProve checks cases from nothing but the market, by the book: with their multipliers all that
// is on sale costs as much as it holds.
func casesProve(t *testing.T, m Market, x Assigned, counts []countBound, bound int64) (leaves int) {
	t.Helper()
	if p := x.Branched; p != nil {
		at := len(counts)
		return casesProve(t, m, *p.Fewer, append(counts[:at:at], countBound{countedKind: countedKind{p.From, p.Domain}, number: p.AtMost}), bound) +
			casesProve(t, m, *p.More, append(counts[:at:at], countBound{countedKind: countedKind{p.From, p.Domain}, number: p.AtMost + 1, least: true}), bound)
	}
	require.Len(t, x.CountMultipliers, len(counts))
	m.Options = slices.Clone(m.Options)
	owed := new(big.Int)
	for k, c := range counts {
		require.GreaterOrEqual(t, x.CountMultipliers[k], int64(0))
		all := new(big.Int).Mul(big.NewInt(c.number), big.NewInt(x.CountMultipliers[k]))
		if !c.least {
			all.Neg(all)
		}
		owed.Add(owed, all)
	}
	for i := range m.Options {
		o := &m.Options[i]
		before := machine{price: o.Price, domain: o.Domain}
		for k, c := range counts {
			switch {
			case !c.has(&before):
			case c.least:
				o.Price -= x.CountMultipliers[k]
			default:
				o.Price += x.CountMultipliers[k]
			}
		}
		require.GreaterOrEqual(t, o.Price, int64(0), "%+v", m)
	}
	got, ok := proves(m, x)
	require.True(t, ok, "%+v", m)
	require.GreaterOrEqual(t, got.Add(got, owed).Int64(), bound)
	return 1
}

// No way to place the pods is cheaper than what cases come to, each of them is proven, and
// together they are no worse than what is known without them.
func TestCasesAgainstTheOptimum(t *testing.T) {
	solvable, better, deep := 0, 0, 0
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(71, seed))
		m := unlimited(rng)
		if rng.IntN(2) == 0 { // what is pointless counts, too
			for range 1 + rng.IntN(3) {
				o := m.Options[rng.IntN(len(m.Options))]
				o.Price += rng.Int64N(usd)
				m.Options = append(m.Options, o)
			}
		}
		best, ok := cheapest(m)
		if !ok {
			continue
		}
		before, r := inCases(m)
		if r.Bound == 0 {
			continue
		}
		solvable++
		require.GreaterOrEqual(t, r.Bound, before.Bound, "%+v", m)
		require.LessOrEqual(t, r.Bound, best, "%+v", m)
		if r.Branched == nil {
			require.Equal(t, before, r)
			continue
		}
		better++
		if casesProve(t, m, r, nil, r.Bound) > 2 {
			deep++
		}
	}
	t.Logf("%d bounds, %d better with cases, %d of those with more than two", solvable, better, deep)
	assert.Positive(t, better)
}

// The same where pods are spread over domains and machines are counted by domain.
func TestCasesOfSpreadsAgainstTheOptimum(t *testing.T) {
	solvable, better, deep := 0, 0, 0
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(31, seed))
		m, fine := spreadMarket(rng)
		if !fine {
			continue
		}
		m.Supplies = nil
		best, ok := cheapestSpread(m)
		if !ok {
			continue
		}
		before := Assignment(m, nil, enough, nil)
		r := before.Divided(Effort{Cases: 100 * enough, Wanted: 1 << 60})
		if r.Bound == 0 {
			continue
		}
		solvable++
		require.GreaterOrEqual(t, r.Bound, before.Bound, "%+v", m)
		require.LessOrEqual(t, r.Bound, best, "%+v", m)
		if r.Branched == nil {
			continue
		}
		better++
		require.Positive(t, r.Branched.Domain)
		if casesProve(t, m, r, nil, r.Bound) > 2 {
			deep++
		}
	}
	t.Logf("%d bounds, %d better with cases, %d of those with more than two", solvable, better, deep)
	assert.Positive(t, better)
}

// Three pods in each of two domains, in which a machine holds two, take two machines in each,
// though there would be room for all on three.
func TestCasesByDomain(t *testing.T) {
	m := Market{Dims: 1, Classes: []Class{{Size: []int64{10}, Count: 30}, {Size: []int64{10}, Count: 30}}, Options: []Choice{
		{Cap: []int64{200}, Price: usd, Users: row(true, false), Domain: 1}, {Cap: []int64{200}, Price: usd, Users: row(false, true), Domain: 2},
	}}
	before, r := inCases(m)
	assert.InDelta(t, 3*usd, before.Bound, 1e-3*usd)
	assert.InDelta(t, 4*usd, r.Bound, 1e-3*usd)
	casesProve(t, m, r, nil, r.Bound)
	for i := range m.Options {
		m.Options[i].Domain = 0
	}
	_, r = inCases(m)
	assert.Less(t, r.Bound, int64(3.5*usd), "three in all")
}

// Five pods of which a machine holds two take three machines. What a second offer of the same
// machine costs more does not keep it from being counted.
func TestCasesOfHalves(t *testing.T) {
	m := Market{Dims: 1, Classes: []Class{{Size: []int64{10}, Count: 50}}, Options: []Choice{
		{Cap: []int64{200}, Price: usd, Users: row(true)},
	}}
	dear := m.Options[0]
	dear.Price += usd / 4
	m.Everything = func() []Choice { return append(slices.Clone(m.Options), dear) }
	before, r := inCases(m)
	assert.InDelta(t, 2.5*usd, before.Bound, 1e-3*usd)
	assert.InDelta(t, 3*usd, r.Bound, 1e-3*usd)
	m.Options = m.Everything()
	casesProve(t, m, r, nil, r.Bound)
	assert.Len(t, m.machinesAmong(m.Options, nil), 1)
	assert.Len(t, m.machinesAmong(m.Options, []countBound{{countedKind: countedKind{from: dear.Price}, least: true}}), 2)
}

// unlimited is a random market with a machine beside that holds a hundred pods.
func unlimited(rng *rand.Rand) Market {
	m := randomMarket(rng)
	m.Supplies = nil
	if len(m.Options) > 0 && rng.IntN(2) == 0 {
		large := m.Options[rng.IntN(len(m.Options))]
		large.Cap = append([]int64(nil), large.Cap...)
		for d := range large.Cap {
			large.Cap[d] *= 100
		}
		large.Price *= 60 + rng.Int64N(60)
		m.Options = append(m.Options, large)
	}
	return m
}
