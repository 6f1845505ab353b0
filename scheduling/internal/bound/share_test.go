package bound

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/internal/soak"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// together is what all pods are worth, wherever those are that are spread, and what those
// of each class are worth where they are.
func together(m Market, r Assigned) (total *big.Int, own []*big.Int) {
	total, own = new(big.Int), slices.Clone(r.Duals)
	parts := m.spreadParts()
	for i, w := range r.Duals {
		if !parts.Has(i) {
			total.Add(total, new(big.Int).Mul(w, big.NewInt(m.Classes[i].Count)))
		}
	}
	for i := range m.Spreads {
		s := &m.Spreads[i]
		for _, k := range s.Kinds {
			total.Add(total, new(big.Int).Mul(r.Duals[k.Parts[0]], big.NewInt(k.Count)))
			for d, c := range k.Parts {
				if own[c] = new(big.Int).Sub(r.Duals[c], r.DomainMultipliers[i][d]); own[c].Sign() < 0 {
					own[c] = new(big.Int)
				}
			}
		}
		most := new(big.Int)
		eachFilling(s, func(counts []int64) {
			sum := new(big.Int)
			for d, n := range counts {
				sum.Add(sum, new(big.Int).Mul(r.DomainMultipliers[i][d], big.NewInt(n)))
			}
			if sum.Cmp(most) > 0 {
				most = sum
			}
		})
		total.Sub(total, most)
	}
	return total, own
}

// eachFilling goes through the ways in which the pods of a spread may be in its domains.
func eachFilling(s *Spread, f func(counts []int64)) {
	counts := make([]int64, len(s.Most))
	var fill func(d int, left int64)
	fill = func(d int, left int64) {
		if d == len(counts) {
			if left == 0 {
				f(counts)
			}
			return
		}
		for n := s.Least[d]; n <= min(left, s.Most[d]); n++ {
			counts[d] = n
			fill(d+1, left-n)
		}
	}
	fill(0, s.total())
}

// spreadMarket makes some of the classes of a random market kinds of a spread, and sells
// every machine in one of two domains.
func spreadMarket(rng *rand.Rand) (m Market, ok bool) {
	from := randomMarket(rng)
	kinds := 1 + rng.IntN(len(from.Classes))
	s := Spread{Least: make([]int64, 2), Most: make([]int64, 2)}
	m = Market{Dims: from.Dims, Spreads: []Spread{{}}}
	for c := range from.Classes[:kinds] {
		s.Kinds = append(s.Kinds, Kind{Count: from.Classes[c].Count, Parts: []int{2 * c, 2*c + 1}})
	}
	total := s.total()
	for d := range s.Most {
		s.Least[d], s.Most[d] = rng.Int64N(total/2+1), total/2+rng.Int64N(total+1)
	}
	for c, class := range from.Classes {
		if c >= kinds {
			m.Classes = append(m.Classes, class)
			continue
		}
		for d := range s.Most {
			class.Count = min(from.Classes[c].Count, s.Most[d])
			m.Classes = append(m.Classes, class)
		}
	}
	m.Spreads[0] = s
	sell := func(x Choice) Choice {
		users, domain := model.NewBits(len(m.Classes)), rng.IntN(2)
		x.Users.Each(func(c int) {
			if c < kinds {
				users.Set(2*c + domain)
			} else {
				users.Set(kinds + c)
			}
		})
		x.Users, x.Domain = users, domain+1
		return x
	}
	for _, o := range from.Options {
		m.Options = append(m.Options, sell(o))
	}
	for _, x := range from.Supplies {
		members := slices.Clone(x.Members)
		for i := range members {
			members[i] = sell(members[i])
		}
		m.Supplies = append(m.Supplies, Supply{Count: x.Count, Members: members})
	}
	ok = m.sound()
	return m, ok
}

// cheapestSpread tries all numbers of the kinds in the domains.
func cheapestSpread(m Market) (price int64, ok bool) {
	s := &m.Spreads[0]
	price = math.MaxInt64
	fixed := m
	fixed.Spreads, fixed.Classes = nil, slices.Clone(m.Classes)
	var split func(k int, in []int64)
	split = func(k int, in []int64) {
		if k == len(s.Kinds) {
			for d, n := range in {
				if n < s.Least[d] || n > s.Most[d] {
					return
				}
			}
			if p, can := cheapest(fixed); can {
				price, ok = min(price, p), true
			}
			return
		}
		for n := range s.Kinds[k].Count + 1 {
			counts := []int64{n, s.Kinds[k].Count - n}
			for d, part := range s.Kinds[k].Parts {
				fixed.Classes[part].Count = counts[d]
			}
			split(k+1, []int64{in[0] + counts[0], in[1] + counts[1]})
		}
	}
	split(0, make([]int64, 2))
	return price, ok
}

// However pods are spread, as far as they may be, no way to place them is cheaper than the
// bound, and it is proven.
func TestSpreadAgainstTheOptimum(t *testing.T) {
	solvable, tight, better := 0, 0, 0
	for seed := range soak.Cases(300) {
		rng := rand.New(rand.NewPCG(31, seed))
		m, fine := spreadMarket(rng)
		if !fine {
			continue
		}
		best, ok := cheapestSpread(m)
		if !ok {
			continue
		}
		r := Assignment(m, nil, enough, nil)
		if r.Bound == 0 {
			continue
		}
		solvable++
		proven(t, m, r, best)
		if r.Bound == best {
			tight++
		}
		free := m
		free.Spreads = []Spread{{Kinds: m.Spreads[0].Kinds, Least: make([]int64, 2), Most: []int64{1 << 30, 1 << 30}}}
		free.Classes = slices.Clone(m.Classes)
		for _, k := range m.Spreads[0].Kinds {
			for _, part := range k.Parts {
				free.Classes[part].Count = k.Count
			}
		}
		if x := Assignment(free, nil, enough, nil); r.Bound > x.Bound+x.Bound/100 {
			better++
		}
	}
	t.Logf("%d bounds, %d equal the optimum, %d gain from what the spread says", solvable, tight, better)
	assert.Positive(t, solvable)
	assert.Positive(t, tight)
	assert.Positive(t, better)
}

func TestSpreadIsRepeatable(t *testing.T) {
	for seed := range uint64(10) {
		m, fine := spreadMarket(rand.New(rand.NewPCG(31, seed)))
		if !fine {
			continue
		}
		repeats(t, func() Assigned { return Pattern(m, nil, plenty) })
	}
}

// A market with a spread that is not what it should be has no bound.
func TestUnsoundSpreads(t *testing.T) {
	changed := func(change func(*Market)) Market {
		m := Market{
			Dims:    1,
			Classes: []Class{{Size: []int64{1}, Count: 3}, {Size: []int64{1}, Count: 2}},
			Options: []Choice{{Cap: []int64{1}, Price: 10, Users: row(true, false)}, {Cap: []int64{1}, Price: 20, Users: row(false, true)}},
			Spreads: []Spread{{Kinds: []Kind{{Parts: []int{0, 1}, Count: 4}}, Least: []int64{0, 1}, Most: []int64{3, 2}}},
		}
		change(&m)
		return m
	}
	r := Assignment(changed(func(*Market) {}), nil, enough, nil)
	assert.EqualValues(t, 50, r.Bound, "three in the cheap domain")
	for name, change := range map[string]func(*Market){
		"no kind":              func(m *Market) { m.Spreads[0].Kinds = nil },
		"no pods":              func(m *Market) { m.Spreads[0].Kinds[0].Count = 0 },
		"no domains":           func(m *Market) { m.Spreads[0].Most, m.Spreads[0].Least = nil, nil },
		"too few least":        func(m *Market) { m.Spreads[0].Least = []int64{0} },
		"too few parts":        func(m *Market) { m.Spreads[0].Kinds[0].Parts = []int{0} },
		"a part that is not":   func(m *Market) { m.Spreads[0].Kinds[0].Parts[1] = 2 },
		"a part twice":         func(m *Market) { m.Spreads[0].Kinds[0].Parts[1] = 0 },
		"more than may be":     func(m *Market) { m.Classes[0].Count = 4 },
		"least above most":     func(m *Market) { m.Spreads[0].Least[1] = 3 },
		"a negative least":     func(m *Market) { m.Spreads[0].Least[0] = -1 },
		"too many at least":    func(m *Market) { m.Spreads[0].Least = []int64{3, 2} },
		"no place for all":     func(m *Market) { m.Spreads[0].Kinds[0].Count = 6 },
		"numbers out of range": func(m *Market) { m.Spreads[0].Kinds[0].Count = math.MaxInt64 },
	} {
		assert.Zero(t, Assignment(changed(change), nil, enough, nil).Bound, name)
	}
}
