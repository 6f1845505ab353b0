package pack

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// check is a naive reading of what a solution must satisfy.
func check(p *model.Problem, s model.Solution) error {
	placed := make([]int64, len(p.Classes))
	machine := func(room []int64, admits model.Bits, items []model.Item, present []model.Presence) error {
		load := make([]int64, p.Dims)
		have := map[model.ClassID]int64{}
		for _, it := range items {
			c := p.Classes[it.Class]
			if it.N <= 0 || have[it.Class] > 0 {
				return fmt.Errorf("class %d is listed twice or with %d pods", it.Class, it.N)
			}
			have[it.Class] = it.N
			if !admits.Has(int(c.Group)) {
				return fmt.Errorf("class %d is not admitted", it.Class)
			}
			if c.PerNode > 0 && it.N > c.PerNode {
				return fmt.Errorf("%d pods of class %d, at most %d", it.N, it.Class, c.PerNode)
			}
			for d, q := range c.Request {
				load[d] += q * it.N
			}
		}
		for c := range have {
			for _, other := range p.Classes[c].Conflicts {
				if have[other] > 0 {
					return fmt.Errorf("classes %d and %d share a machine", c, other)
				}
			}
		}
		if !p.WithinPerNodeLimits(items, present) {
			return fmt.Errorf("%+v are too crowded where %+v are", items, present)
		}
		for d := range load {
			if load[d] > room[d] {
				return fmt.Errorf("dimension %d: %d in %d", d, load[d], room[d])
			}
		}
		return nil
	}
	supply := slices.Clone(p.Supply)
	limits := make([][]int64, len(p.Pools))
	for i, pool := range p.Pools {
		limits[i] = slices.Clone(pool.Limits)
	}
	for _, node := range s.Nodes {
		o := &p.Options[node.Option]
		if node.N < 1 || len(node.Items) == 0 {
			return fmt.Errorf("an empty machine, or none, is bought")
		}
		if err := machine(o.Room, o.Admits, node.Items, nil); err != nil {
			return fmt.Errorf("option %d: %w", node.Option, err)
		}
		for _, it := range node.Items {
			placed[it.Class] += it.N * node.N
		}
		if o.Supply != model.NoSupply {
			if supply[o.Supply] -= node.N; supply[o.Supply] < 0 {
				return fmt.Errorf("supply %d is overdrawn", o.Supply)
			}
		}
		for d, u := range o.Use {
			if limits[o.Pool][d] -= u * node.N; limits[o.Pool][d] < 0 {
				return fmt.Errorf("pool %d exceeds limit %d", o.Pool, d)
			}
		}
		groups, load := model.NewBits(p.Groups), make([]int64, p.Dims)
		p.Load(load, node.Items)
		for _, it := range node.Items {
			groups.Set(int(p.Classes[it.Class].Group))
		}
		if ok, _ := p.MeetsFloor(o, groups, load, node.Items); !ok {
			return fmt.Errorf("option %d: the floor does not hold", node.Option)
		}
	}
	for i, items := range s.Bins {
		if err := machine(p.Bins[i].Room, p.Bins[i].Admits, items, p.Bins[i].Present); err != nil {
			return fmt.Errorf("bin %d: %w", i, err)
		}
		for _, it := range items {
			placed[it.Class] += it.N
		}
	}
	for c := range p.Classes {
		if placed[c]+s.Unplaced[c] != p.Classes[c].Count {
			return fmt.Errorf("class %d: %d placed and %d not, of %d", c, placed[c], s.Unplaced[c], p.Classes[c].Count)
		}
	}
	return nil
}

// hurried leaves no time for anything but the first answer.
func hurried() Params { return Params{Late: func() bool { return true }} }

// Solutions keep every rule, and whatever is left out, no bin could take it as it is left.
func TestSolutionsAreSound(t *testing.T) {
	left := 0
	for seed := range uint64(6000) {
		p := modeltest.Random(seed)
		out := Search(p, hurried())
		require.NoError(t, check(p, out.Solution), "seed %d late %t", seed, out.Late)
		out = Search(p, Params{})
		require.NoError(t, check(p, out.Solution), "seed %d late %t", seed, out.Late)
		require.NoError(t, leftForNothing(p, &out.Solution), "seed %d", seed)
		if total(out.Solution.Unplaced) > 0 {
			left++
		}
	}
	assert.Greater(t, left, 500)
}

// A pod is left out only where limits, reservations or floors stand in the way.
func TestNobodyIsLeftOutForNothing(t *testing.T) {
	for seed := range soak.Cases(1000) {
		p := modeltest.Random(seed)
		out := Search(p, Params{})
		for c, n := range out.Solution.Unplaced {
			if n == 0 {
				continue
			}
			for i := range p.Options {
				o := &p.Options[i]
				if o.Supply == model.NoSupply && len(o.Use) == 0 && o.Floor < 0 &&
					o.Admits.Has(int(p.Classes[c].Group)) && model.Fits(o.Room, p.Classes[c].Request) &&
					p.WithinPerNodeLimits([]model.Item{{Class: model.ClassID(c), N: 1}}, nil) {
					t.Fatalf("seed %d: option %d could hold class %d", seed, i, c)
				}
			}
		}
	}
}

func TestMoreWorkNeverCostsMore(t *testing.T) {
	for seed := range soak.Cases(250) {
		p := modeltest.Random(seed)
		little, much := Search(p, hurried()), Search(p, Params{Work: 1_000_000})
		s := &search{p: p, levels: priorities(p)}
		more := slices.Compare(s.byLevel(little.Solution.Unplaced), s.byLevel(much.Solution.Unplaced))
		assert.GreaterOrEqual(t, more, 0, "seed %d", seed)
		if ranked(p) || more > 0 {
			continue // a better rank, or a pod more, may cost more
		}
		assert.LessOrEqual(t, p.Cost(much.Solution.Nodes), p.Cost(little.Solution.Nodes), "seed %d", seed)
	}
}

// ranked reports whether some options are wanted more than others whatever they cost.
func ranked(p *model.Problem) bool {
	return slices.ContainsFunc(p.Options, func(o model.Option) bool { return o.Weight > 0 || o.Soft.Any() })
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// A deadline that has passed before the search begins still gives a complete answer.
func TestLateSearchIsComplete(t *testing.T) {
	p := logNormal(500, 40)
	out := Search(p, Params{Work: 1 << 40, Late: func() bool { return true }})
	require.NoError(t, check(p, out.Solution))
	assert.True(t, out.Late)
	assert.Zero(t, total(out.Solution.Unplaced))
}

func TestSearchIsRepeatable(t *testing.T) {
	for _, p := range []*model.Problem{logNormal(500, 40), running(mix(600, proportional(40, 3, 1), 3), 40), scarce(mix(600, proportional(40, 3, 1), 3), 200)} {
		a, b := Search(p, Params{Work: 500_000}), Search(p, Params{Work: 500_000})
		require.NoError(t, check(p, a.Solution))
		assert.Equal(t, a, b)
	}
}

// Where there is not enough for all, pods of higher priority come first, and of
// equal ones as many as possible.
func TestPriorityDecidesWhenLimitsBind(t *testing.T) {
	admits := model.NewBits(1)
	admits.Set(0)
	p := &model.Problem{
		Dims: 1, Groups: 1, Passes: []model.Pass{{}},
		Pools: []model.Pool{{Limits: []int64{8}}},
		Classes: []model.Class{
			{Request: []int64{4}, Count: 1, Priority: 10},
			{Request: []int64{1}, Count: 6},
			{Request: []int64{3}, Count: 2},
		},
		Options: []model.Option{
			{Room: []int64{4}, Use: []int64{4}, Cost: 10, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(1)},
			{Room: []int64{8}, Use: []int64{8}, Cost: 15, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(1)},
		},
	}
	out := Search(p, Params{Work: 10_000})
	require.NoError(t, check(p, out.Solution))
	assert.Equal(t, []int64{0, 2, 2}, out.Solution.Unplaced)
}

// The gap to the resource bound on problems large enough for it to be close.
func TestLargeProblemsComeCloseToTheBound(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    *model.Problem
		most float64
	}{
		{"thirty sizes", thirtySizes(5000), 1.03},
		{"log-normal", logNormal(3000, 200), 1.03},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := Search(tt.p, Params{Work: 2_000_000})
			require.NoError(t, check(tt.p, out.Solution))
			ratio := float64(tt.p.Cost(out.Solution.Nodes)) / float64(resourceBound(tt.p))
			assert.GreaterOrEqual(t, ratio, 1.0)
			assert.LessOrEqual(t, ratio, tt.most)
		})
	}
}

// More work never ends dearer than the least.
func TestMoreWorkIsNeverDearer(t *testing.T) {
	for _, p := range []*model.Problem{thirtySizes(400), thirtySizes(700)} {
		least := Search(p, Params{})
		for _, work := range []int64{1_000_000, 10_000_000} {
			more := Search(p, Params{Work: work})
			require.NoError(t, check(p, more.Solution))
			assert.LessOrEqual(t, p.Cost(more.Solution.Nodes), p.Cost(least.Solution.Nodes))
		}
	}
}
