package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// planned puts the given counts in place without asking the rules.
func planned(p *Problem, counts [][]int64) (*planner, *cluster) {
	s := newPlanner(compile(p))
	all := newCluster(s.plan.tables)
	for c := range counts {
		copy(s.plan.placed[s.plan.first[c]:s.plan.first[c+1]], counts[c])
	}
	s.plan.recount(all)
	return s, all
}

func TestCertified(t *testing.T) {
	two := []Rule{spread(1, 2), spread(1, 2)}
	for _, c := range []struct {
		name      string
		p         *Problem
		counts    [][]int64
		certified bool
		fragile   bool
	}{
		{
			name: "one spread, even", certified: true,
			p: problem(two, class(9, 2, self(0))), counts: [][]int64{{5, 4}},
		},
		{
			name: "one spread, uneven", fragile: true,
			p: problem(two, class(9, 2, self(0))), counts: [][]int64{{6, 3}},
		},
		{
			name: "merely counted pods are there in the end", certified: true,
			p:      problem(two, class(3, 2, holds(0)), class(4, 2, seen(0))),
			counts: [][]int64{{3, 0}, {1, 3}},
		},
		{
			name: "those that keep out whoever comes later", fragile: true,
			p:      problem(two, class(3, 2, holds(0)), class(4, 2, seen(0))),
			counts: [][]int64{{3, 0}, {4, 0}},
		},
		{
			name: "spreads that count each other's pods, even: they may wait for ever", fragile: true,
			p:      problem(two, class(8, 2, holds(0), seen(1)), class(8, 2, holds(1), seen(0))),
			counts: [][]int64{{4, 4}, {4, 4}},
		},
		{
			name: "with a anchor, and others to make up for it", certified: true,
			p: problem(two, class(4, 2, holds(0), seen(1)), class(4, 2, holds(1), seen(0)),
				class(3, 2, seen(0)), class(3, 2, seen(1))),
			counts: [][]int64{{4, 0}, {4, 0}, {0, 3}, {0, 3}},
		},
		{
			name: "with a anchor, and too few others", fragile: true,
			p: problem(two, class(4, 2, holds(0), seen(1)), class(4, 2, holds(1), seen(0)),
				class(2, 2, seen(0)), class(3, 2, seen(1))),
			counts: [][]int64{{4, 0}, {4, 0}, {0, 2}, {0, 3}},
		},
		{
			name: "a chain of spreads is proven link by link", certified: true,
			p: problem(two, class(4, 2, seen(0)), class(4, 2, holds(0), seen(1)),
				class(2, 2, holds(1))),
			counts: [][]int64{{2, 2}, {2, 2}, {1, 1}},
		},
		{
			name: "domains that are too few", fragile: true,
			p: problem([]Rule{spread(1, 2).least(2)}, class(3, 2, self(0)).at(0)), counts: [][]int64{{3}},
		},
		{
			name: "preferences need no proof", certified: true,
			p: problem([]Rule{spread(1, 2).preference(1)}, class(3, 2, self(0))), counts: [][]int64{{3, 0}},
		},
		{
			name: "anti-affinity alone needs none", certified: true,
			p: problem([]Rule{anti(2)}, class(2, 2, self(0)), class(0, 0)), counts: [][]int64{{1, 1}, {}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, all := planned(c.p, c.counts)
			assert.Equal(t, c.certified, s.certifier.certified(all))
			assert.Equal(t, c.fragile, s.certifier.risk(all).doubt > 0)
		})
	}
}

// TestFragileOnlyByOrder is about a class that holds two spreads: there is no proof,
// but it binds forwards and backwards.
func TestFragileOnlyByOrder(t *testing.T) {
	c := class(4, 4, self(0), self(1))
	for s := range c.Sites {
		c.Sites[s].Domains = []int32{int32(s / 2), int32(s % 2)}
	}
	s, all := planned(problem([]Rule{spread(1, 2), spread(1, 2)}, c), [][]int64{{2, 0, 0, 2}})
	assert.False(t, s.certifier.certified(all))
	assert.Zero(t, s.certifier.risk(all).doubt)
}

// certified reports whether the plan is known to bind in whatever order its pods come.
func (s *certifier) certified(cl *cluster) bool { return s.doubtful(cl) == 0 }
