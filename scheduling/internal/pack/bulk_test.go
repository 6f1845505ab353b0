package pack

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

func counts(p *model.Problem) []int64 {
	out := make([]int64, len(p.Classes))
	for c := range out {
		out[c] = p.Classes[c].Count
	}
	return out
}

// requireBought sees to it that machines hold what they may, and that the budget and what
// remains tell what was bought.
func requireBought(t *testing.T, p *model.Problem, nodes []model.Node, remaining []int64, b *budget, seed uint64) {
	t.Helper()
	placed, spent := make([]int64, len(p.Classes)), newBudget(p)
	for _, n := range nodes {
		require.NoError(t, checkPattern(p, n.Option, n.Items, counts(p)), "seed %d", seed)
		require.Equal(t, n.N, spent.affords(&p.Options[n.Option], n.N), "seed %d", seed)
		spent.spend(&p.Options[n.Option], n.N)
		for _, it := range n.Items {
			placed[it.Class] += it.N * n.N
		}
	}
	for c := range p.Classes {
		require.Equal(t, p.Classes[c].Count, placed[c]+remaining[c], "seed %d class %d", seed, c)
	}
	require.Equal(t, spent.supply, b.supply, "seed %d", seed)
	require.Equal(t, spent.limits, b.limits, "seed %d", seed)
}

// Whatever is bought, machines hold what they may, and the budget and what remains tell
// what was bought.
func TestBulkIsSound(t *testing.T) {
	bought := 0
	for seed := range uint64(1500) {
		p := random(seed)
		s := newSearch(p, Params{})
		values := s.fill.shareValues()
		for pass := range p.Passes {
			remaining, b := counts(p), newBudget(p)
			nodes := s.bulk(pass, remaining, values, b)
			requireBought(t, p, nodes, remaining, b, seed)
			bought += int(model.Count(nodes))
			require.Empty(t, s.fill.hold, "later machines take all they can")
		}
	}
	assert.Greater(t, bought, 1000)
}

// Many small pods leave hardly anything of large machines empty.
func TestBulkComesCloseToTheBound(t *testing.T) {
	for _, test := range []struct {
		name string
		p    *model.Problem
		most float64
	}{
		{"thirty sizes", thirtySizes(20_000), 1.004},
		{"log-normal", logNormal(20_000, 300), 1.006},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSearch(test.p, Params{})
			remaining := counts(test.p)
			nodes := s.bulk(0, remaining, s.fill.shareValues(), newBudget(test.p))
			assert.Zero(t, total(remaining))
			assert.Less(t, float64(test.p.Cost(nodes)), test.most*float64(resourceBound(test.p)))
		})
	}
}

// Pods that may be in different zones are kinds of their own.
func TestBlendKnowsKinds(t *testing.T) {
	p := mix(3000, proportional(40, 3, 1), 3)
	for c := range p.Classes {
		p.Classes[c].Crowds = nil
	}
	s := newSearch(p, Params{})
	values, remaining := s.fill.shareValues(), counts(p)
	classes := s.fill.those(remaining, values)
	x := s.newBlend(s.markets[0], classes, remaining)
	require.NotNil(t, x)
	assert.Len(t, x.kinds, 3)
	require.True(t, x.solve(make([]float64, len(p.Options))))
	room := make([][]float64, 3)
	for z := range room {
		room[z] = make([]float64, p.Dims)
	}
	for at, n := range x.quotas {
		o := &p.Options[s.markets[0].options[at]]
		o.Admits.Each(func(z int) {
			for d, have := range o.Room {
				room[z][d] += n * float64(have)
			}
		})
	}
	for z := range room {
		for d := range p.Dims {
			asked := 0.0
			for c := range p.Classes {
				if int(p.Classes[c].Group) == z {
					asked += float64(p.Classes[c].Request[d]) * float64(p.Classes[c].Count)
				}
			}
			assert.GreaterOrEqual(t, room[z][d], asked*(1-1e-6), "zone %d, resource %d", z, d)
		}
	}
	// What no option holds cannot be had.
	p.Classes[0].Group = 0
	for o := range p.Options {
		p.Options[o].Admits.Clear(0)
	}
	s = newSearch(p, Params{})
	assert.Nil(t, s.newBlend(s.markets[0], classes, remaining))
}

// Machines on which most pods do not fit are bought for those that do, where they hold
// more than they cost, and for nobody else.
func TestBargains(t *testing.T) {
	p := logNormal(5000, 100)
	admits, soft := p.Options[0].Admits, p.Options[0].Soft
	tiny := model.Option{
		Room: []int64{900, 500 << 20, 4}, Cost: 2_000_000, Price: 2_000_000,
		Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: soft,
	}
	dear := tiny
	dear.Cost, dear.Price = 200_000_000, 200_000_000
	p.Options = append(p.Options, tiny, dear)
	s := newSearch(p, Params{})
	values, remaining := s.fill.shareValues(), counts(p)
	classes := slices.Clone(s.fill.those(remaining, values))
	x := s.newBlend(s.markets[0], classes, remaining)
	require.True(t, x.solve(make([]float64, len(p.Options))))
	worths := x.values(classes, values)
	bought := s.bargains(x, classes, remaining, worths, newBudget(p))
	require.NotEmpty(t, bought)
	for _, n := range bought {
		assert.Equal(t, model.OptionID(len(p.Options)-2), n.Option)
		held := 0.0
		for _, it := range n.Items {
			held += worths[it.Class] * float64(it.N)
		}
		assert.Greater(t, held, float64(tiny.Cost))
	}
	assert.Zero(t, x.quotas[len(p.Options)-1]+x.quotas[len(p.Options)-2], "a blend does not count on them")
	again := counts(p)
	nodes := s.bulk(0, again, values, newBudget(p))
	p.Options = p.Options[:len(p.Options)-2]
	without := newSearch(p, Params{})
	left := counts(p)
	large := without.bulk(0, left, values, newBudget(p))
	p.Options = append(p.Options, tiny, dear)
	assert.Less(t, p.Cost(nodes), p.Cost(large))
}

// Where there are more sizes than fit on a shortlist, machines are filled as well and
// nobody is overlooked.
func TestManySizes(t *testing.T) {
	p := logNormal(6000, 600)
	s := newSearch(p, Params{})
	values, remaining := s.fill.shareValues(), counts(p)
	s.fill.stock(&s.stage, s.markets[0], s.markets[0].all, s.fill.those(remaining, values))
	require.Greater(t, len(s.stage.shelves[0]), manyOpen)
	for _, o := range s.markets[0].options {
		items, _ := s.fill.fill(o, nil, s.stage.shelves[0], remaining, values)
		require.NoError(t, checkPattern(p, o, items, remaining))
		load := make([]int64, p.Dims)
		p.Load(load, items)
		for c := range p.Classes {
			more := slices.Clone(load)
			p.Load(more, []model.Item{{Class: model.ClassID(c), N: 1}})
			taken := int64(0)
			for _, it := range items {
				if it.Class == model.ClassID(c) {
					taken = it.N
				}
			}
			assert.False(t, taken < remaining[c] && model.Fits(p.Options[o].Room, more), "option %d has room for class %d", o, c)
		}
	}
	out := Search(p, Params{})
	assert.Less(t, float64(p.Cost(out.Solution.Nodes)), 1.02*float64(resourceBound(p)))
}

// An attempt that leaves more for the tail buys one machine less of each quota, where they
// are few.
func TestKeeping(t *testing.T) {
	for _, test := range []struct {
		name      string
		quotas    []float64
		buys, few []int64
	}{
		{"a few", []float64{0.9, 1.2, 3, 4.5}, []int64{0, 1, 3, 3}, []int64{0, 0, 2, 3}},
		{"many", []float64{2.5, 40}, []int64{2, 39}, []int64{2, 39}},
	} {
		for keeping, want := range map[bool][]int64{false: test.buys, true: test.few} {
			x := &blend{s: &search{keeping: keeping}, quotas: test.quotas}
			got := make([]int64, len(test.quotas))
			for _, y := range x.wholes() {
				assert.Equal(t, y.n, y.left)
				got[y.at] = y.n
			}
			assert.Equal(t, want, got, "%s, keeping %v", test.name, keeping)
		}
	}
}
