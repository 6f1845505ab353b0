package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGround(t *testing.T) {
	one := []Rule{affinity(3)}
	two := []Rule{affinity(3), affinity(3)}
	for _, c := range []struct {
		name   string
		p      *Problem
		counts [][]int64
		firm   bool
		after  [][]int64 // what is left when others are dropped
	}{
		{
			name: "they open a domain for their own kind", firm: true,
			p: problem(one, class(3, 2, self(0))), counts: [][]int64{{3, 0}},
		},
		{
			name: "but not two", p: problem(one, class(3, 2, self(0))),
			counts: [][]int64{{2, 1}}, after: [][]int64{{2, 0}},
		},
		{
			name: "others that are counted may come first elsewhere",
			p:    problem(one, class(3, 2, self(0)), class(2, 2, seen(0))),
			// They are fewer, and it is as good to leave them out.
			counts: [][]int64{{3, 0}, {0, 2}}, after: [][]int64{{3, 0}, {0, 0}},
		},
		{
			name: "unless they are more", p: problem(one, class(3, 2, self(0)), class(4, 2, seen(0))),
			counts: [][]int64{{3, 0}, {0, 4}}, after: [][]int64{{0, 0}, {0, 4}},
		},
		{
			name: "or more urgent", p: problem(one, class(3, 2, self(0)), class(2, 2, seen(0)).priority(1)),
			counts: [][]int64{{3, 0}, {0, 2}}, after: [][]int64{{0, 0}, {0, 2}},
		},
		{
			name: "in the same domain they do no harm", firm: true,
			p:      problem(one, class(3, 2, self(0)), class(2, 2, seen(0))),
			counts: [][]int64{{3, 0}, {2, 0}},
		},
		{
			name: "with one of them there the others can be anywhere", firm: true,
			p:      problem(one, class(3, 2, self(0)), class(2, 2, seen(0))),
			counts: [][]int64{{3, 0}, {1, 1}},
		},
		{
			name: "and those that hold the affinity follow them", firm: true,
			p:      problem(one, class(3, 2, self(0)), class(2, 2, seen(0))),
			counts: [][]int64{{2, 1}, {1, 1}},
		},
		{
			name: "pods without the key are not counted", firm: true,
			p: problem(one, class(3, 2, self(0)), Class{
				Count: 1, Links: []Link{seen(0)}, Sites: []Site{{Domains: []int32{None}, Limit: -1}},
			}),
			counts: [][]int64{{3, 0}, {1}},
		},
		{
			name: "pods that run are firm ground", firm: true,
			p:      problem([]Rule{affinity(2).running(1, 1)}, class(4, 2, self(0))),
			counts: [][]int64{{2, 2}},
		},
		{
			name:   "and keep others from opening a domain",
			p:      problem([]Rule{affinity(2).running(1, 0)}, class(4, 2, self(0))),
			counts: [][]int64{{0, 4}}, after: [][]int64{{0, 0}},
		},
		{
			name: "a chain", firm: true,
			p: problem(two, class(1, 2, seen(0)), class(1, 2, holds(0), seen(1)),
				class(1, 2, holds(1))),
			counts: [][]int64{{1, 0}, {1, 0}, {1, 0}},
		},
		{
			name: "a chain that hangs in the air",
			p: problem(two, class(1, 2, seen(0)), class(1, 2, holds(0), seen(1)),
				class(1, 2, holds(1))),
			counts: [][]int64{{0, 1}, {1, 0}, {1, 0}}, after: [][]int64{{0, 1}, {0, 0}, {0, 0}},
		},
		{
			name: "two that wait for each other",
			p:    problem(two, class(2, 2, holds(0), seen(1)), class(1, 2, holds(1), seen(0))),
			// Whoever would be first is not.
			counts: [][]int64{{2, 0}, {1, 0}}, after: [][]int64{{0, 0}, {0, 0}},
		},
		{
			name: "two kinds that open one domain for both", firm: true,
			p:      problem(two, class(2, 2, self(0), seen(1)), class(1, 2, self(1), seen(0))),
			counts: [][]int64{{2, 0}, {1, 0}},
		},
		{
			name:   "two kinds that shut each other out",
			p:      problem(two, class(2, 2, self(0), seen(1)), class(1, 2, self(1), seen(0))),
			counts: [][]int64{{2, 0}, {0, 1}}, after: [][]int64{{2, 0}, {0, 0}},
		},
		{
			name: "two affinities of one pod", firm: true,
			p: problem(two, class(3, 2, self(0), self(1))), counts: [][]int64{{3, 0}},
		},
		{
			name:   "of which others open but one",
			p:      problem(two, class(3, 2, self(0), self(1)), class(1, 2, seen(0))),
			counts: [][]int64{{3, 0}, {1, 0}}, after: [][]int64{{0, 0}, {1, 0}},
		},
		{
			name: "preferences are not asked for", firm: true,
			p:      problem([]Rule{affinity(2).preference(1)}, class(3, 2, self(0)), class(1, 2, seen(0))),
			counts: [][]int64{{3, 0}, {0, 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, all := planned(c.p, c.counts)
			assert.Equal(t, c.firm, s.certifier.independence.run(all, s.plan.placed))
			if c.firm {
				c.after = c.counts
			}
			assert.Equal(t, c.after, Replay(c.p, c.counts, nil))
		})
	}
}

// withoutSpreads makes rules of affinity out of rules that spread.
func withoutSpreads(p *Problem) *Problem {
	for r := range p.Rules {
		if p.Rules[r].Kind == Spread {
			p.Rules[r].Kind = Affinity
		}
	}
	return p
}

// TestAffinityBindsInAnyOrder binds plans in random orders, pod by pod.
func TestAffinityBindsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 69))
	eachRandom(14, 1000, func(round int, p *Problem) {
		got := Plan(withoutSpreads(p))
		for range 4 {
			require.Zero(t, lostInOrder(p, got.Counts, rng), "round %d: %+v %v", round, p, got.Counts)
		}
	})
}

// TestGroundAgainstAllOrders compares with all orders in which pods could bind: plans on
// firm ground always bind, and few others do.
func TestGroundAgainstAllOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	firm, cautious := 0, 0
	for round := range 6000 {
		p := withoutSpreads(randomProblem(rng, shape{pods: 7, classes: 4, places: 3, rules: 3, bins: 1}))
		given := make([][]int64, len(p.Classes))
		for c := range given {
			given[c] = make([]int64, len(p.Classes[c].Sites))
			for s := range given[c] {
				given[c][s] = int64(rng.IntN(2))
			}
		}
		s, all := planned(p, given)
		if !s.check.run(all, s.plan.placed, s.plan.eligible) {
			continue // not even in one order
		}
		stuck := mayBeStuck(p, given)
		if s.certifier.independence.run(all, s.plan.placed) {
			firm++
			require.False(t, stuck, "round %d: %+v\n%v", round, p, given)
		} else if !stuck {
			cautious++
		}
	}
	t.Logf("%d plans on firm ground, %d others bind in any order", firm, cautious)
	assert.Greater(t, firm, 50*cautious)
}

// TestPlanStaysOnFirmGround is about where counted pods go when others rely on them.
func TestPlanStaysOnFirmGround(t *testing.T) {
	one := []Rule{affinity(3)}
	two := []Rule{affinity(3), affinity(3)}
	for _, c := range []struct {
		name string
		p    *Problem
		want [][]int64
	}{
		{
			name: "those that hold the affinity follow a class with one of its own",
			p: problem(two, class(2, 3, self(0)).costs(1, 2, 3),
				class(2, 3, seen(0), self(1)).costs(3, 1, 2)),
			want: [][]int64{{0, 2, 0}, {0, 2, 0}},
		},
		{
			name: "one pod that leads the way is enough",
			p: problem([]Rule{affinity(3), spread(1, 3)}, class(2, 3, self(0)).costs(1, 2, 3).priority(1),
				class(3, 3, seen(0), self(1))),
			want: [][]int64{{2, 0, 0}, {1, 1, 1}},
		},
		{
			name: "a domain is opened where all that are counted can go",
			p: problem(one, class(2, 3, self(0)).costs(1, 2, 3).priority(1),
				class(2, 3, seen(0)).at(1, 2).costs(5, 6)),
			want: [][]int64{{0, 2, 0}, {2, 0}},
		},
		{
			name: "opened, it draws those that are counted",
			p: problem(one, class(2, 3, self(0)).costs(1, 2, 3).priority(1),
				class(3, 3, seen(0)).costs(9, 1, 1)),
			want: [][]int64{{2, 0, 0}, {1, 2, 0}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Plan(c.p)
			assert.Equal(t, c.want, got.Counts)
			assert.Zero(t, slices.Max(got.Unplaced))
			assert.False(t, mayBeStuck(c.p, got.Counts))
		})
	}
}
