package greedy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// A market has the options of its pass that admit some class, each in the row of the groups that it admits, and lists
// them by price.
func TestMarket(t *testing.T) {
	shared := 0
	for seed := range uint64(500) {
		p := modeltest.Random(seed)
		for _, pass := range p.Passes {
			m := NewMarket(p, pass)
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
					require.Equal(t, int32(-1), m.RowOf[o], "seed %d", seed)
					continue
				}
				require.Equal(t, model.OptionID(o), m.Options[at], "seed %d", seed)
				require.Equal(t, m.Row[at], m.RowOf[o], "seed %d", seed)
				for g := range p.Groups {
					require.Equal(t, groups[g], m.Rows[m.Row[at]].Has(g), "seed %d", seed)
				}
				require.True(t, model.Fits(m.room[m.Row[at]], option.Room), "seed %d", seed)
				require.GreaterOrEqual(t, m.dearest[m.Row[at]], float64(option.Cost))
				at++
			}
			require.Len(t, m.Options, at, "seed %d", seed)
			for a, x := range m.Rows {
				for _, y := range m.Rows[:a] {
					require.NotEqual(t, x, y, "seed %d: equal rows are one", seed)
				}
			}
			if len(m.Rows) < len(m.Options) {
				shared++
			}
			cost := func(at int) int64 { return p.Options[m.Options[at]].Cost }
			require.True(t, slices.IsSortedFunc(m.ByCost, func(a, b int) int { return int(cost(a) - cost(b)) }))
			require.ElementsMatch(t, m.All, m.ByCost)
			for limit := range int64(25) {
				cheap := m.UpTo(p, limit)
				for i, place := range m.ByCost {
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
		p := modeltest.Random(seed)
		r := rand.New(rand.NewPCG(seed, 3))
		f := NewFiller(p)
		values, remaining := make([]float64, len(p.Classes)), make([]int64, len(p.Classes))
		for c := range values {
			values[c], remaining[c] = float64(r.IntN(3)), r.Int64N(2)
		}
		m := NewMarket(p, p.Passes[0])
		f.Index(m, m.All, f.Placeable(remaining), values)
		for row, lists := range f.index.lists {
			want := map[model.ClassID]bool{}
			for c := range p.Classes {
				class := &p.Classes[c]
				if remaining[c] > 0 && p.Joining(nil, nil, model.ClassID(c)) > 0 && m.Rows[row].Has(int(class.Group)) && model.Fits(m.room[row], class.Request) {
					want[model.ClassID(c)] = true
				}
			}
			for i, x := range lists {
				require.NotEmpty(t, x.classes)
				for k, c := range x.classes {
					require.True(t, want[c], "seed %d: class %d", seed, c)
					delete(want, c)
					require.Equal(t, p.Classes[c].Request, f.sizes.requests[x.size])
					if k > 0 {
						require.LessOrEqual(t, values[c], values[x.classes[k-1]], "seed %d", seed)
					}
				}
				for _, y := range lists[:i] {
					require.NotEqual(t, x.size, y.size, "seed %d: one shelf for each size", seed)
				}
			}
			require.Empty(t, want, "seed %d: everyone has a place", seed)
		}
		for c := range remaining {
			remaining[c] *= r.Int64N(2)
		}
		f.index.dropEmpty(remaining)
		for _, lists := range f.index.lists {
			for _, x := range lists {
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
		p := modeltest.Random(seed)
		f := NewFiller(p)
		values, remaining := f.ShareValues(), make([]int64, len(p.Classes))
		for c := range remaining {
			remaining[c] = p.Classes[c].Count
		}
		m := NewMarket(p, p.Passes[0])
		f.Index(m, m.All, f.Placeable(remaining), values)
		for at, o := range m.Options {
			lists := f.ListsAt(at)
			var seeds []SizeList
			if seed%2 == 0 && len(lists) > 0 {
				seeds = lists[len(lists)-1:]
			}
			items, value := f.Fill(at, seeds, remaining, values)
			require.NoError(t, checkPattern(p, o, items, remaining), "seed %d", seed)
			if len(seeds) > 0 && len(items) > 0 {
				seeded++
				require.Contains(t, seeds[0].classes, items[0].Class, "seed %d", seed)
			}
			sum, load := 0.0, make([]int64, p.Dims)
			for _, it := range items {
				sum += values[it.Class] * float64(it.N)
			}
			require.InDelta(t, sum, value, 1e-6*(1+sum), "seed %d", seed)
			if p.Options[o].Floor >= 0 || len(seeds) > 0 && len(items) == 0 {
				continue
			}
			filled++
			p.Load(load, items)
			for _, x := range lists {
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

// checkPattern returns the fault of a machine of a pattern, nil for none.
func checkPattern(p *model.Problem, o model.OptionID, items []model.Item, remaining []int64) error {
	option, load, groups := &p.Options[o], make([]int64, p.Dims), model.NewBits(p.Groups)
	p.Load(load, items)
	for i, it := range items {
		groups.Set(int(p.Classes[it.Class].Group))
		if it.N < 1 || it.N > min(remaining[it.Class], p.Joining(items[:i], nil, it.Class)) {
			return fmt.Errorf("%d pods of class %d", it.N, it.Class)
		}
	}
	floor, _ := p.MeetsFloor(option, groups, load, items)
	if len(items) > 0 && !floor || !model.Fits(option.Room, load) || !option.Admits.Contains(groups) || !p.WithinPerNodeLimits(items, nil) {
		return fmt.Errorf("option %d does not hold %+v", o, items)
	}
	return nil
}
