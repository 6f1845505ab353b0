package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// scarceProblem draws a few pods for which several pools with tight limits hardly have
// enough: of machines, of the first resource, of the second, or of several of these.
func scarceProblem(seed uint64) *model.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &model.Problem{Dims: 2, Groups: 1 + r.IntN(3), Passes: []model.Pass{{}}}
	levels := 1 + r.IntN(4)/3
	for range 1 + r.IntN(6) {
		p.Classes = append(p.Classes, model.Class{
			Group: int32(r.IntN(p.Groups)), Request: []int64{1 + r.Int64N(6), r.Int64N(8)}, Count: 1 + r.Int64N(4),
			Priority: int32(r.IntN(levels)),
		})
	}
	if r.IntN(4) == 0 {
		p.Classes[0].PerNode = 1
	}
	pools := 1 + r.IntN(4)
	for range pools {
		limits := []int64{1 + r.Int64N(3), model.Unbounded, model.Unbounded}
		switch r.IntN(4) {
		case 0:
			limits = []int64{4, 4 + r.Int64N(16), model.Unbounded}
		case 1:
			limits = []int64{4, 4 + r.Int64N(20), 4 + r.Int64N(20)}
		}
		p.Pools = append(p.Pools, model.Pool{Limits: limits})
	}
	for range 1 + r.IntN(9) {
		o := model.Option{
			Pool: model.PoolID(r.IntN(pools)), Room: []int64{1 + r.Int64N(10), 1 + r.Int64N(14)}, Supply: model.NoSupply,
			Admits: model.NewBits(p.Groups), Soft: model.NewBits(p.Groups), Floor: -1,
		}
		o.Cost = 10 * (o.Room[0] + o.Room[1]/2) * (3 + r.Int64N(4)) / 4
		o.Price, o.Use = o.Cost, []int64{1, o.Room[0] + r.Int64N(2), o.Room[1]}
		for g := range p.Groups {
			if r.IntN(4) > 0 {
				o.Admits.Set(g)
			}
		}
		p.Options = append(p.Options, o)
	}
	return p
}

// exhaustive is how many pods of each level can be placed, and the least that costs: all
// machines that limits allow are tried, and on them all ways to fill them.
type exhaustive struct {
	p       *model.Problem
	levels  []int32
	placed  []int64
	cost    int64
	patched map[model.OptionID][][]int64 // by option, the loads of its machines that are not part of others
}

func newExhaustive(p *model.Problem) *exhaustive {
	m := &exhaustive{p: p, levels: priorities(p), cost: -1, patched: map[model.OptionID][][]int64{}}
	all := make([]int64, len(p.Classes))
	for c := range all {
		all[c] = p.Classes[c].Count
	}
	for o := range p.Options {
		m.patched[model.OptionID(o)] = m.loads(&p.Options[o], all)
	}
	m.buy(0, greedy.NewBudget(p), 0, [][]int64{all})
	return m
}

// loads are the maximal loads of an option.
func (m *exhaustive) loads(o *model.Option, all []int64) (out [][]int64) {
	load := make([]int64, len(all))
	var fill func(c int, room []int64)
	fill = func(c int, room []int64) {
		if c == len(all) {
			out = append(out, slices.Clone(load))
			return
		}
		class := &m.p.Classes[c]
		most := all[c]
		if class.PerNode > 0 {
			most = min(most, class.PerNode)
		}
		if !o.Admits.Has(int(class.Group)) {
			most = 0
		}
		for n := int64(0); n <= most; n++ {
			left := slices.Clone(room)
			for d, q := range class.Request {
				left[d] -= n * q
			}
			if slices.Min(left) < 0 {
				break
			}
			load[c] = n
			fill(c+1, left)
		}
		load[c] = 0
	}
	fill(0, o.Room)
	return maximal(out)
}

// maximal drops the vectors that are nowhere above others.
func maximal(in [][]int64) (out [][]int64) {
	for i, v := range in {
		covered := false
		for j, w := range in {
			covered = covered || i != j && model.Fits(w, v) && (!slices.Equal(v, w) || j < i)
		}
		if !covered {
			out = append(out, v)
		}
	}
	return out
}

// buy adds machines of the options from o on to what is bought; rests are what pods may
// be left then.
func (m *exhaustive) buy(o int, b *greedy.Budget, cost int64, rests [][]int64) {
	for _, rest := range rests {
		placed := make([]int64, len(m.levels))
		for c, n := range rest {
			placed[levelOf(m.levels, m.p.Classes[c].Priority)] += m.p.Classes[c].Count - n
		}
		if c := slices.Compare(placed, m.placed); m.cost < 0 || c > 0 || c == 0 && cost < m.cost {
			m.placed, m.cost = placed, cost
		}
	}
	for ; o < len(m.p.Options); o++ {
		option := &m.p.Options[o]
		if b.Affords(option, 1) == 0 {
			continue
		}
		var fewer [][]int64
		known := map[[8]int64]bool{}
		for _, rest := range rests {
			for _, load := range m.patched[model.OptionID(o)] {
				left, key := slices.Clone(rest), [8]int64{}
				for c, n := range load {
					left[c] = max(0, left[c]-n)
					key[c] = left[c]
				}
				if !known[key] && !slices.Equal(left, rest) {
					known[key] = true
					fewer = append(fewer, left)
				}
			}
		}
		if len(fewer) == 0 {
			continue
		}
		b.Spend(option, 1)
		m.buy(o, b, cost+option.Cost, fewer)
		b.Spend(option, -1)
	}
}

// Where limits do not suffice for all pods, no more are left out than must be, but for
// two problems in a thousand.
func TestScarceLimits(t *testing.T) {
	_, seeds := soak.Window(200)
	works := []int64{0, 1_000_000}
	short, dear, bare := make([]int, len(works)), make([]int, len(works)), 0
	for seed := range soak.Cases(200) {
		p := scarceProblem(seed)
		m := newExhaustive(p)
		if most := sum(m.placed); most < podsOf(p) {
			bare++
		}
		for i, work := range works {
			params := Params{Work: work}
			out := PlaceWithinLimits(p, Search(p, params), params)
			require.NoError(t, check(p, out.Solution), "seed %d", seed)
			a := judged(p, out.Solution)
			switch c := slices.Compare(a.placed, m.placed); {
			case c > 0:
				t.Errorf("work %d, seed %d: %v are placed, %v can be", work, seed, a.placed, m.placed)
			case c < 0:
				short[i]++
				t.Logf("work %d, seed %d: %v are placed, %v can be", work, seed, a.placed, m.placed)
			case a.cost > m.cost:
				dear[i]++
			default:
				require.Equal(t, m.cost, a.cost, "seed %d", seed)
			}
		}
	}
	require.Greater(t, bare, seeds/2)
	for i, work := range works {
		t.Logf("work %d: %d of %d plans, %d of which cannot place all pods, place too few; %d are too dear", work, short[i], seeds, bare, dear[i])
		assert.LessOrEqual(t, short[i]*500, max(500, seeds))
		assert.LessOrEqual(t, dear[i]*50, seeds)
	}
}

func podsOf(p *model.Problem) (n int64) {
	for c := range p.Classes {
		n += p.Classes[c].Count
	}
	return n
}

func sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// judged is a solution in the form in which answers are compared.
func judged(p *model.Problem, solution model.Solution) *attempt {
	return newSearch(p, Params{}).attemptOf(solution)
}

// A second look where limits bind makes nothing worse: as many pods are placed, or more;
// where it is as many, none of them later and for no more.
func TestRationIsNoWorse(t *testing.T) {
	better := 0
	for seed := range soak.Cases(600) {
		p := modeltest.Random(seed)
		before := Search(p, Params{})
		after := PlaceWithinLimits(p, before, Params{})
		require.NoError(t, check(p, after.Solution), "seed %d", seed)
		a, b := judged(p, after.Solution), judged(p, before.Solution)
		require.False(t, b.better(a), "seed %d", seed)
		require.False(t, b.placesEarlier(a), "seed %d", seed)
		if a.better(b) {
			better++
		}
		again := PlaceWithinLimits(p, before, Params{})
		require.Equal(t, after, again, "seed %d: not the same twice", seed)
		if !slices.ContainsFunc(before.Solution.Unplaced, func(n int64) bool { return n > 0 }) {
			require.Equal(t, before, after, "seed %d: nothing was left out", seed)
		}
	}
	t.Logf("%d answers are better", better)
	assert.Positive(t, better)
}
