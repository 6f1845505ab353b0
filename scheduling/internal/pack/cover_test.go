package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// shop is a few random options that may be bought without limit.
func shop(r *rand.Rand, dims int) *model.Problem {
	p := &model.Problem{Dims: dims, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	for range 1 + r.IntN(4) {
		admits := model.NewBits(1)
		admits.Set(0)
		o := model.Option{Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(1), Cost: 1 + r.Int64N(40)}
		for range dims {
			o.Room = append(o.Room, 1+r.Int64N(8))
		}
		o.Price = o.Cost
		p.Options = append(p.Options, o)
	}
	return p
}

// cheapest is the least that so many machines or more cost which have together what is
// asked, by trying all numbers of each.
func cheapest(p *model.Problem, asked []int64, slots int64, from int, best int64) int64 {
	if slots <= 0 && model.Fits(make([]int64, len(asked)), asked) {
		return 0
	}
	for o := from; o < len(p.Options); o++ {
		cost := p.Options[o].Cost
		if cost >= best {
			continue
		}
		rest := make([]int64, len(asked))
		for d, n := range asked {
			rest[d] = n - p.Options[o].Room[d]
		}
		best = min(best, cost+cheapest(p, rest, slots-1, o, best-cost))
	}
	return best
}

// together is the room that the machines of a fleet have together, and their cost.
func together(p *model.Problem, m *market, fleet []int) (room []int64, cost int64) {
	room = make([]int64, p.Dims)
	for _, at := range fleet {
		o := &p.Options[m.options[at]]
		cost += o.Cost
		for d, n := range o.Room {
			room[d] += n
		}
	}
	return room, cost
}

func everyRow(m *market) model.Bits {
	rows := model.NewBits(len(m.rows))
	for r := range m.rows {
		rows.Set(r)
	}
	return rows
}

func TestFleetsAreCheap(t *testing.T) {
	found, cheap := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := shop(r, 1+r.IntN(3))
		m := newMarket(p, p.Passes[0])
		asked := make([]int64, p.Dims)
		for d := range asked {
			asked[d] = r.Int64N(16)
		}
		slots := max(0, r.Int64N(8)-2)
		var needs []need
		for d, n := range asked {
			if n > 0 {
				needs = append(needs, need{d, float64(n), everyRow(m)})
			}
		}
		if slots > 1 {
			needs = append(needs, need{-1, float64(slots), everyRow(m)})
		}
		x := newCover(p, m, m.all, needs)
		if x == nil {
			assert.Empty(t, needs, "seed %d", seed)
			continue
		}
		fleet := x.find(1e18, 10_000)
		require.NotNil(t, fleet, "seed %d", seed)
		have, cost := together(p, m, fleet)
		assert.True(t, model.Fits(have, asked), "seed %d", seed)
		if slots > 1 {
			assert.GreaterOrEqual(t, int64(len(fleet)), slots, "seed %d", seed)
		}
		want := cheapest(p, asked, slots, 0, 1<<40)
		require.GreaterOrEqual(t, cost, want, "seed %d", seed)
		assert.Nil(t, x.find(float64(want), 10_000), "nothing is cheaper than the cheapest")
		assert.Equal(t, fleet, x.find(1e18, 10_000), "a search leaves nothing behind")
		found++
		if cost == want {
			cheap++
		}
	}
	assert.Greater(t, found, 300)
	assert.GreaterOrEqual(t, cheap*100, found*97, "of %d", found) // some need not buy what the program buys whole
}
