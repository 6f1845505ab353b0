package topology

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
)

// letters is pods of n kinds in zones, the first of which is the cheapest: of each two
// kinds some of one that keep a spread over the other, and others without any.
func letters(n int32, zones, free int64) *Problem {
	rules, costs := make([]Rule, n), make([]int64, zones)
	for i := range costs {
		costs[i] = int64(10 + 2*i)
	}
	costs[0] = 5
	var classes []Class
	for i := range n {
		rules[i] = spread(1, int(zones))
		classes = append(classes, class(free, int(zones), seen(i)).costs(costs...))
		for k := range n {
			if i != k {
				classes = append(classes, class(4, int(zones), seen(i), holds(k)).costs(costs...))
			}
		}
	}
	return problem(rules, classes...)
}

// twin is letters in zones of which two cost about the same and the others much more.
func twin(n int32, free int64) *Problem {
	p := letters(n, 5, free)
	for c := range p.Classes {
		p.Classes[c] = p.Classes[c].costs(10, 11, 20, 22, 24)
	}
	return p
}

// priceOf is what pods cost by the costs of their sites.
func priceOf(p *Problem, counts [][]int64) (sum int64) {
	for c := range counts {
		for k, n := range counts[c] {
			sum += n * p.Classes[c].Sites[k].Cost
		}
	}
	return sum
}

// cheaperBinds expects of a plan with proofs that it binds in any order, places the pods of one
// without, and costs no more; it reports whether it costs less.
func cheaperBinds(t *testing.T, p *Problem, before, after *Result) bool {
	t.Helper()
	assert.Equal(t, before.Unplaced, after.Unplaced, "%d kinds", len(p.Rules))
	for c := range p.Classes {
		assert.Equal(t, podsOf(before.Counts[c]), podsOf(after.Counts[c]))
	}
	s, all := planned(p, after.Counts)
	require.True(t, s.certifier.certified(all), "%d kinds: %v", len(p.Rules), after.Counts)
	assert.Equal(t, after.Counts, Replay(p, after.Counts, nil))
	assert.Equal(t, after, Plan(p), "the same again")
	assert.LessOrEqual(t, priceOf(p, after.Counts), priceOf(p, before.Counts), "%d kinds", len(p.Rules))
	return priceOf(p, after.Counts) < priceOf(p, before.Counts)
}

// Pods that are reassigned bind in any order, and never cost more.
func TestDealtPodsBindAndCostLess(t *testing.T) {
	cheaper := 0
	for n := range int32(race.Fewer(4, 2)) {
		n += 3
		for shuffle := range uint64(2) {
			p := twin(n, 20)
			plain := Plan(p)
			p.Proofs, p.Shuffle = 2000, shuffle
			if cheaperBinds(t, p, plain, Plan(p)) {
				cheaper++
			}
		}
	}
	assert.GreaterOrEqual(t, cheaper, race.Fewer(6, 2))
}

// Where there are few pods, nothing that is proven to bind costs less.
func TestDealtAsCheapAsCanBe(t *testing.T) {
	for _, free := range []int64{1, 2, 4} {
		p := letters(2, 3, free)
		for c := range p.Classes {
			p.Classes[c].Count = min(p.Classes[c].Count, 3)
		}
		p.Proofs = 2000
		got := Plan(p)
		least := cheapestProven(p)
		assert.Equal(t, least, priceOf(p, got.Counts), "%d free: %v", free, got.Counts)
	}
}

// cheapestProven is the least that any plan costs that places all pods and is proven to bind in
// any order.
func cheapestProven(p *Problem) int64 {
	s := newPlanner(compile(p))
	all := newCluster(s.plan.tables)
	least := int64(math.MaxInt64)
	counts := make([][]int64, len(p.Classes))
	var place func(c int)
	place = func(c int) {
		if c == len(p.Classes) {
			price := priceOf(p, counts)
			if price >= least {
				return
			}
			for i := range counts {
				copy(s.plan.placed[s.plan.first[i]:s.plan.first[i+1]], counts[i])
			}
			if s.plan.recount(all); s.certifier.certified(all) {
				least = price
			}
			return
		}
		var split func(at int, left int64)
		split = func(at int, left int64) {
			if at == len(counts[c])-1 {
				counts[c][at] = left
				place(c + 1)
				return
			}
			for n := range left + 1 {
				counts[c][at] = n
				split(at+1, left-n)
			}
		}
		counts[c] = make([]int64, len(p.Classes[c].Sites))
		split(0, p.Classes[c].Count)
	}
	place(0)
	return least
}

// Who is not reassigned: those at sites with limits or with running machines, those that have
// other ties than spreads; and nobody where costs say little, or too much to add up.
func TestNotDealtOut(t *testing.T) {
	base := func() *Problem {
		p := letters(4, 4, 12)
		p.Proofs = 2000
		return p
	}
	for name, change := range map[string]func(p *Problem){
		"minimum of domains": func(p *Problem) { p.Rules[0].MinDomains = 2 },
		"one podGroup":       func(p *Problem) { p.Classes = p.Classes[:1] },
		"limits": func(p *Problem) {
			for c := range p.Classes {
				p.Classes[c] = p.Classes[c].limits(9, 9, 9, 9)
			}
		},
		"pods unplaced": func(p *Problem) {
			for c := range p.Classes {
				p.Classes[c] = p.Classes[c].costs(Nowhere, Nowhere, Nowhere, Nowhere)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := base()
			change(p)
			s, all := planned(p, Plan(p).Counts)
			assert.Nil(t, newReassignment(s.plan, all))
		})
	}
	for name, costs := range map[string][]int64{
		"all the same": {7, 7, 7, 7},
		"immense":      {1, 1 << 60, 1 << 60, 1 << 60},
	} {
		t.Run(name, func(t *testing.T) {
			p := base()
			for c := range p.Classes {
				p.Classes[c] = p.Classes[c].costs(costs...)
			}
			s, all := planned(p, Plan(p).Counts)
			s.reassigner.left = math.MaxInt64
			require.NotNil(t, newReassignment(s.plan, all))
			assert.Nil(t, s.reassigner.search(all))
		})
	}
	t.Run("with an affinity", func(t *testing.T) {
		p := base()
		p.Rules = append(p.Rules, affinity(4))
		c := class(3, 4, seen(0), self(4)).costs(1, 2, 3, 4)
		c.Links = slices.Clone(c.Links)
		p.Classes = append(p.Classes, c)
		s, all := planned(p, Plan(p).Counts)
		x := newReassignment(s.plan, all)
		require.NotNil(t, x)
		for _, h := range x.groups {
			for _, k := range h.shares {
				assert.NotEqual(t, int32(len(p.Classes)-1), k.class)
			}
		}
	})
}

// Work is used up plan by plan, and none is done without it.
func TestDealingIsLimited(t *testing.T) {
	p := twin(5, 20)
	s, all := planned(p, Plan(p).Counts)
	before := slices.Clone(s.plan.placed)
	s.reassigner.reassign(all)
	assert.Equal(t, before, s.plan.placed, "no work, no change")

	s.reassigner.left = 1_000
	assert.Nil(t, s.reassigner.search(all), "too little to begin")
	assert.Equal(t, int64(1_000), s.reassigner.left)
	s.reassigner.left = 30_000_000
	x := s.reassigner.search(all)
	require.NotNil(t, x)
	assert.Less(t, s.reassigner.left, int64(30_000_000))
	assert.GreaterOrEqual(t, s.reassigner.left, int64(0))
	assert.Zero(t, x.lack)
}

// Whenever it is late, the plan is one that binds and places as many.
func TestDealingEndsInTime(t *testing.T) {
	p := twin(5, 20)
	p.Proofs = 2000
	full := Plan(p)
	different := 0
	for _, looks := range []int{0, 1, 2, 5, 20, 100, 500, 1_000_000} {
		var asked atomic.Int64
		p.Late = func() bool { return asked.Add(1) > int64(looks) }
		got := Plan(p)
		assert.Equal(t, full.Unplaced, got.Unplaced)
		s, all := planned(p, got.Counts)
		require.True(t, s.certifier.certified(all), "%d looks", looks)
		if !assert.ObjectsAreEqual(full.Counts, got.Counts) {
			different++
		}
	}
	assert.Positive(t, different)
	assert.Less(t, different, 8)
}

func podsOf(counts []int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}
