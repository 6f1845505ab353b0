package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

func row(bits ...bool) model.Bits {
	b := model.NewBits(len(bits))
	for i, set := range bits {
		if set {
			b.Set(i)
		}
	}
	return b
}

// randomMarket is tiny: a few pods of a few classes, that fit some machines and are let
// onto some.
func randomMarket(rng *rand.Rand) Market {
	m := Market{Dims: 1 + rng.IntN(3)}
	vector := func(most int64) []int64 {
		v := make([]int64, m.Dims)
		for d := range v {
			v[d] = rng.Int64N(most + 1)
		}
		return v
	}
	for pods := 1 + rng.IntN(5); pods > 0; {
		n := int64(1 + rng.IntN(pods))
		pods -= int(n)
		c := Class{Size: vector(9), Count: n}
		c.Size[0]++ // every pod takes something
		if rng.IntN(5) == 0 {
			c.PerNode = 1 + rng.Int64N(2)
		}
		m.Classes = append(m.Classes, c)
	}
	users := func() model.Bits {
		bits := make([]bool, len(m.Classes))
		for i := range bits {
			bits[i] = rng.IntN(4) > 0
		}
		return row(bits...)
	}
	for range 1 + rng.IntN(4) {
		m.Options = append(m.Options, Choice{Cap: vector(20), Price: 1 + rng.Int64N(usd), Users: users()})
	}
	for range rng.IntN(3) {
		s := Supply{Count: 2 * rng.Int64N(3)}
		for range 1 + rng.IntN(2) {
			s.Members = append(s.Members, Choice{Cap: vector(15), Price: max(0, rng.Int64N(usd)-usd/2), Users: users(), Use: int64(len(s.Members)) + s.Count/2})
		}
		m.Supplies = append(m.Supplies, s)
	}
	return m
}

// cheapest tries every way to place all pods; ok is false where there is none.
func cheapest(m Market) (price int64, ok bool) {
	type open struct {
		choice *Choice
		room   []int64
		held   []int64
	}
	var machines []*open
	left := make([]int64, len(m.Supplies))
	for s := range left {
		left[s] = m.Supplies[s].Count
	}
	var pods []int
	for c := range m.Classes {
		for range m.Classes[c].Count {
			pods = append(pods, c)
		}
	}
	best := int64(math.MaxInt64)
	var place func(i int, sum int64)
	onto := func(x *open, i int, sum int64) {
		class := &m.Classes[pods[i]]
		if !x.choice.Users.Has(pods[i]) || class.PerNode > 0 && x.held[pods[i]] == class.PerNode {
			return
		}
		for d, n := range class.Size {
			if n > 0 && n > x.room[d] {
				return
			}
		}
		for d, n := range class.Size {
			x.room[d] -= n
		}
		x.held[pods[i]]++
		place(i+1, sum)
		x.held[pods[i]]--
		for d, n := range class.Size {
			x.room[d] += n
		}
	}
	place = func(i int, sum int64) {
		if sum >= best {
			return
		}
		if i == len(pods) {
			best = sum
			return
		}
		for _, x := range machines {
			onto(x, i, sum)
		}
		buy := func(c *Choice) {
			x := &open{choice: c, room: append([]int64(nil), c.Cap...), held: make([]int64, len(m.Classes))}
			machines = append(machines, x)
			onto(x, i, sum+c.Price)
			machines = machines[:len(machines)-1]
		}
		for o := range m.Options {
			buy(&m.Options[o])
		}
		for s := range m.Supplies {
			for k := range m.Supplies[s].Members {
				member := &m.Supplies[s].Members[k]
				if use := max(member.Use, 1); left[s] >= use {
					left[s] -= use
					buy(member)
					left[s] += use
				}
			}
		}
	}
	place(0, 0)
	return best, best < math.MaxInt64
}

// Whatever is left out, something as good is kept.
func TestUndominatedKeepsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for range 300 {
		m := randomMarket(rng)
		for range 10 {
			m.Options = append(m.Options, randomMarketOption(rng, m))
		}
		kept := undominated(m.Options)
		for i := range m.Options {
			found := false
			for _, k := range kept {
				a, b := &m.Options[k], &m.Options[i]
				found = found || a.Price <= b.Price && model.Fits(a.Cap, b.Cap) && a.Users.Contains(b.Users)
			}
			require.True(t, found, "option %d of %+v, kept %v", i, m.Options, kept)
		}
	}
}

func randomMarketOption(rng *rand.Rand, m Market) Choice {
	c := Choice{Cap: make([]int64, m.Dims), Price: 1 + rng.Int64N(9), Users: model.NewBits(len(m.Classes))}
	for d := range c.Cap {
		c.Cap[d] = rng.Int64N(6)
	}
	for i := range m.Classes {
		if rng.IntN(3) > 0 {
			c.Users.Set(i)
		}
	}
	return c
}

func TestSound(t *testing.T) {
	good := func() Market {
		return Market{Dims: 1, Classes: []Class{{Size: []int64{1}, Count: 1}}, Options: []Choice{{Cap: []int64{1}, Price: 1, Users: row(true)}},
			Supplies: []Supply{{Count: 1, Members: []Choice{{Cap: []int64{1}, Users: row(true)}}}}}
	}
	m := good()
	require.True(t, m.sound())
	for name, spoil := range map[string]func(*Market){
		"no resources":           func(m *Market) { m.Dims = 0 },
		"negative dimensions":    func(m *Market) { m.Dims = -1 },
		"a short size":           func(m *Market) { m.Classes[0].Size = nil },
		"a negative size":        func(m *Market) { m.Classes[0].Size[0] = -1 },
		"a negative count":       func(m *Market) { m.Classes[0].Count = -1 },
		"a negative number":      func(m *Market) { m.Classes[0].PerNode = -1 },
		"a long capacity":        func(m *Market) { m.Options[0].Cap = []int64{1, 1} },
		"a negative price":       func(m *Market) { m.Options[0].Price = -1 },
		"no users":               func(m *Market) { m.Options[0].Users = nil },
		"a negative supply":      func(m *Market) { m.Supplies[0].Count = -1 },
		"a price below the free": func(m *Market) { m.Supplies[0].Members[0].Price = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			m := good()
			spoil(&m)
			assert.False(t, m.sound())
			assert.Zero(t, Assignment(m, nil, 1_000_000, nil).Bound)
		})
	}
}

// largeMarket has families of machines whose sizes double, and three kinds of pods: some take
// any machine, some want one of three zones, some none that can be interrupted.
func largeMarket(rng *rand.Rand, classes, options int) Market {
	m := Market{Dims: 3}
	zone, steady := make([]int, classes), make([]bool, classes)
	for c := range classes {
		size := []int64{int64(1+rng.IntN(40)) * 100, int64(1+rng.IntN(64)) << 27, 1}
		m.Classes = append(m.Classes, Class{Size: size, Count: int64(1 + rng.IntN(200))})
		zone[c], steady[c] = max(-1, rng.IntN(6)-3), rng.IntN(4) == 0
	}
	var sold []Choice
	for len(sold) < options {
		memory := []int64{2, 4, 8, 16}[rng.IntN(4)]
		price := 3e7 + rng.Float64()*3e7 + float64(memory)*4e6
		for size := int64(1); size <= 128 && len(sold) < options; size *= 2 {
			room := []int64{size*1000 - 60 - size*3, size*memory<<30 - 300<<20 - size*11<<20, min(110, 8+size*8)}
			sold = append(sold, Choice{Cap: room, Price: int64(price * float64(size) * (0.25 + 0.75*rng.Float64()))})
		}
	}
	for i, x := range sold {
		spot := i%2 == 0
		x.Users = model.NewBits(classes)
		if spot {
			x.Price /= 3
		}
		for c := range classes {
			if (zone[c] < 0 || zone[c] == i%3) && (!spot || !steady[c]) {
				x.Users.Set(c)
			}
		}
		m.Options = append(m.Options, x)
	}
	return m
}
