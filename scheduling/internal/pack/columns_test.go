package pack

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// stock is pods of a few lengths, to be cut from one length of stock at the cost of 1,000.
func lengths(stock int64, wanted map[int64]int64) *model.Problem {
	admits := model.NewBits(1)
	admits.Set(0)
	p := &model.Problem{Dims: 1, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}, Options: []model.Option{{
		Room: []int64{stock}, Cost: 1000, Price: 1000, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(1),
	}}}
	for size := stock; size > 0; size-- {
		if n := wanted[size]; n > 0 {
			p.Classes = append(p.Classes, model.Class{Request: []int64{size}, Count: n})
		}
	}
	return p
}

func TestMixesOfFillings(t *testing.T) {
	for _, test := range []struct {
		name   string
		stock  int64
		wanted map[int64]int64
		bought int64 // whole machines of the mix
	}{
		{"halves", 10, map[int64]int64{5: 100}, 50},
		{"pairs", 10, map[int64]int64{7: 60, 3: 60}, 60},
		{"two to one", 10, map[int64]int64{6: 50, 2: 100}, 50},
		{"thirds and halves", 12, map[int64]int64{6: 40, 4: 60}, 40},
		// Filling greedily, by whatever worths are first, leaves something over here.
		{"three of a kind", 100, map[int64]int64{45: 40, 35: 40, 20: 80}, 48},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := lengths(test.stock, test.wanted)
			s := newSearch(p, Params{Work: 1_000_000})
			s.budget = 1_000_000
			remaining := counts(p)
			nodes, worths := s.inColumns(0, remaining, s.fill.shareValues(), nil, newBudget(p))
			assert.GreaterOrEqual(t, model.Count(nodes), test.bought-2)
			placed := make([]int64, len(p.Classes))
			for _, n := range nodes {
				require.NoError(t, checkPattern(p, n.Option, n.Items, counts(p)))
				for _, it := range n.Items {
					placed[it.Class] += it.N * n.N
				}
			}
			room := int64(0)
			for c := range p.Classes {
				assert.Equal(t, p.Classes[c].Count, placed[c]+remaining[c])
				assert.GreaterOrEqual(t, worths[c], 0.0)
				room += placed[c] * p.Classes[c].Request[0]
			}
			assert.GreaterOrEqual(t, room*100, model.Count(nodes)*test.stock*97, "machines of a mix are full")
		})
	}
}

func TestColumnsAreSound(t *testing.T) {
	bought := 0
	for seed := range uint64(400) {
		p := random(seed)
		s := newSearch(p, Params{})
		s.budget = 100_000
		values := s.fill.shareValues()
		known := s.try(values, false)
		for pass := range p.Passes {
			remaining, b := counts(p), newBudget(p)
			nodes, _ := s.inColumns(pass, remaining, values, known.bought[pass], b)
			requireBought(t, p, nodes, remaining, b, seed)
			bought += int(model.Count(nodes))
		}
	}
	assert.Greater(t, bought, 300)
}

// Jobs of a few cores on machines of a few more: which go together decides.
func TestColumnsBeatFillingInTurn(t *testing.T) {
	p := thirtySizes(0)
	p.Classes = nil
	for i, cpu := range []int64{2_000, 3_700, 5_300, 7_900, 11_000} {
		p.Classes = append(p.Classes, model.Class{Request: []int64{cpu, cpu * 3 << 20, 1}, Count: int64(200 + 37*i)})
	}
	for i := range p.Classes {
		p.Classes[i].Request = slices.Clone(p.Classes[i].Request)
	}
	s := newSearch(p, Params{})
	s.budget = 1_500_000
	values := s.fill.shareValues()
	first := s.try(values, false)
	mixed := s.tryInColumns(first, values)
	assert.Less(t, mixed.cost, first.cost)
	assert.True(t, s.columnsPay(mixed))
	assert.Zero(t, total(mixed.unplaced))
}
