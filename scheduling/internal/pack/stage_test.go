package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A market has the options of its pass that admit anyone there, each in the row of
// just those groups, and lists them by price.
func TestMarket(t *testing.T) {
	shared := 0
	for seed := range uint64(500) {
		p := random(seed)
		for _, pass := range p.Passes {
			m := newMarket(p, pass)
			at := 0
			for o := range p.Options {
				option := &p.Options[o]
				groups := map[int]bool{}
				for g := range p.Groups {
					if option.Weight == pass.Weight && option.Admits.Has(g) && option.Soft.Has(g) == pass.Soft {
						groups[g] = true
					}
				}
				if len(groups) == 0 {
					require.Equal(t, int32(-1), m.rowOf[o], "seed %d", seed)
					continue
				}
				require.Equal(t, model.OptionID(o), m.options[at], "seed %d", seed)
				require.Equal(t, m.row[at], m.rowOf[o], "seed %d", seed)
				for g := range p.Groups {
					require.Equal(t, groups[g], m.rows[m.row[at]].Has(g), "seed %d", seed)
				}
				require.True(t, model.Fits(m.room[m.row[at]], option.Room), "seed %d", seed)
				require.GreaterOrEqual(t, m.dearest[m.row[at]], float64(option.Cost))
				at++
			}
			require.Len(t, m.options, at, "seed %d", seed)
			for a, x := range m.rows {
				for _, y := range m.rows[:a] {
					require.NotEqual(t, x, y, "seed %d: equal rows are one", seed)
				}
			}
			if len(m.rows) < len(m.options) {
				shared++
			}
			cost := func(at int) int64 { return p.Options[m.options[at]].Cost }
			require.True(t, slices.IsSortedFunc(m.byCost, func(a, b int) int { return int(cost(a) - cost(b)) }))
			require.ElementsMatch(t, m.all, m.byCost)
			for limit := range int64(25) {
				cheap := m.upTo(p, limit)
				for i, place := range m.byCost {
					require.Equal(t, cost(place) <= limit, i < len(cheap), "seed %d", seed)
				}
			}
		}
	}
	assert.Greater(t, shared, 50)
}

// Shelves hold, by row, the classes that may be there and that some option has room
// for, by size, the most worth first.
func TestStock(t *testing.T) {
	for seed := range uint64(500) {
		p := random(seed)
		r := rand.New(rand.NewPCG(seed, 3))
		f := newFiller(p)
		values, remaining := make([]float64, len(p.Classes)), make([]int64, len(p.Classes))
		for c := range values {
			values[c], remaining[c] = float64(r.IntN(3)), r.Int64N(2)
		}
		m := newMarket(p, p.Passes[0])
		var s stage
		f.indexClasses(&s, m, m.all, f.those(remaining, values))
		for row, shelves := range s.shelves {
			want := map[model.ClassID]bool{}
			for c := range p.Classes {
				class := &p.Classes[c]
				if remaining[c] > 0 && p.Joining(nil, nil, model.ClassID(c)) > 0 && m.rows[row].Has(int(class.Group)) && model.Fits(m.room[row], class.Request) {
					want[model.ClassID(c)] = true
				}
			}
			for i, x := range shelves {
				require.NotEmpty(t, x.classes)
				for k, c := range x.classes {
					require.True(t, want[c], "seed %d: class %d", seed, c)
					delete(want, c)
					require.Equal(t, p.Classes[c].Request, f.requests[x.size])
					if k > 0 {
						require.LessOrEqual(t, values[c], values[x.classes[k-1]], "seed %d", seed)
					}
				}
				for _, y := range shelves[:i] {
					require.NotEqual(t, x.size, y.size, "seed %d: one shelf for each size", seed)
				}
			}
			require.Empty(t, want, "seed %d: everyone has a place", seed)
		}
		for c := range remaining {
			remaining[c] *= r.Int64N(2)
		}
		s.tidy(remaining)
		for _, shelves := range s.shelves {
			for _, x := range shelves {
				require.NotEmpty(t, x.classes)
				for _, c := range x.classes {
					require.Positive(t, remaining[c], "seed %d", seed)
				}
			}
		}
	}
}

// No pattern leaves room for a pod that might join it, floors aside, and a pattern
// with seeds begins with one of them.
func TestFillLeavesNoRoom(t *testing.T) {
	filled, seeded := 0, 0
	for seed := range uint64(2000) {
		p := random(seed)
		f := newFiller(p)
		values, remaining := f.shareValues(), make([]int64, len(p.Classes))
		for c := range remaining {
			remaining[c] = p.Classes[c].Count
		}
		m := newMarket(p, p.Passes[0])
		var s stage
		f.indexClasses(&s, m, m.all, f.those(remaining, values))
		for at, o := range m.options {
			shelves := s.shelves[m.row[at]]
			var seeds []shelf
			if seed%2 == 0 && len(shelves) > 0 {
				seeds = shelves[len(shelves)-1:]
			}
			items, worth := f.fill(o, seeds, shelves, remaining, values)
			require.NoError(t, checkPattern(p, o, items, remaining), "seed %d", seed)
			if len(seeds) > 0 && len(items) > 0 {
				seeded++
				require.Contains(t, seeds[0].classes, items[0].Class, "seed %d", seed)
			}
			sum, load := 0.0, make([]int64, p.Dims)
			for _, it := range items {
				sum += values[it.Class] * float64(it.N)
			}
			require.InDelta(t, sum, worth, 1e-6*(1+sum), "seed %d", seed)
			if p.Options[o].Floor >= 0 || len(seeds) > 0 && len(items) == 0 {
				continue
			}
			filled++
			p.Load(load, items)
			for _, x := range shelves {
				for _, c := range x.classes {
					with := slices.Clone(load)
					for d, q := range p.Classes[c].Request {
						with[d] += q
					}
					held := int64(0)
					for _, it := range items {
						if it.Class == c {
							held = it.N
						}
					}
					if held < remaining[c] && model.Fits(p.Options[o].Room, with) {
						require.Zero(t, p.Joining(items, nil, c), "seed %d: class %d would fit", seed, c)
					}
				}
			}
		}
	}
	assert.Greater(t, min(filled, seeded), 500)
}

// checkPattern judges the machine of a pattern as if it were all that is bought.
func checkPattern(p *model.Problem, o model.OptionID, items []model.Item, remaining []int64) error {
	alone := *p
	alone.Pools = make([]model.Pool, len(p.Pools)) // limits are not the pattern's affair
	alone.Options = slices.Clone(p.Options)
	for i := range alone.Options {
		alone.Options[i].Use, alone.Options[i].Supply = nil, model.NoSupply
	}
	s := model.Solution{Bins: make([][]model.Item, len(p.Bins)), Unplaced: slices.Clone(remaining)}
	for _, it := range items {
		s.Unplaced[it.Class] -= it.N
	}
	if len(items) > 0 {
		s.Nodes = []model.Node{{Option: o, N: 1, Items: items}}
	}
	return check(&alone, s)
}
