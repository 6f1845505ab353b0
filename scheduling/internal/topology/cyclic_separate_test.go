package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// Pods that spread over each other's kinds bind in any order wherever they are, all
// together at anchors or apart, and apart that costs less.
func TestSeparatedPodsBindAndCostLess(t *testing.T) {
	cheaper := 0
	for n := int32(3); n <= 7; n++ {
		for _, free := range []int64{30, 60} {
			p := letters(n, 5, free)
			got := Plan(p)
			assert.Equal(t, make([]int64, len(p.Classes)), got.Unplaced, "%d kinds", n)
			certain, all := planned(p, got.Counts)
			require.True(t, certain.certified(all), "%d kinds: %v", n, got.Counts)

			s := newPlanner(compile(p))
			s.mode.anchor = s.newAnchors(all)
			require.NotNil(t, s.mode.anchor)
			s.again(all, s.anchorOrder(all.classes))
			together := s.save(all, s.risk(all), s.stuck(all))
			if together.risk.doubt > 0 || together.unplaced[0] > 0 {
				continue
			}
			have, want := certain.cost(all, certain.save(all, risk{}, false)), s.cost(all, together)
			assert.LessOrEqual(t, have, want, "%d kinds", n)
			if have < want {
				cheaper++
			}
		}
	}
	assert.GreaterOrEqual(t, cheaper, 2)
}

// Groups are at anchors where the spreads are that they hold.
func TestSeparate(t *testing.T) {
	s := newPlanner(compile(letters(6, 5, 40)))
	h := s.separate(newCluster(s.tables))
	require.NotNil(t, h)
	sites := 0
	for c, i := range h.site {
		if i < 0 {
			assert.Len(t, s.p.Classes[c].Links, 1)
			continue
		}
		sites++
		for _, e := range s.cells[i].terms {
			assert.True(t, !e.holds || h.at[e.dom] && h.anchored[e.rule], "class %d", c)
		}
	}
	assert.Equal(t, 30, sites)
}

func TestNothingToSeparate(t *testing.T) {
	many := letters(13, 2, 1)
	for name, p := range map[string]*Problem{
		"one spread":      problem([]Rule{spread(1, 2)}, class(5, 2, self(0))),
		"no sites":        problem([]Rule{spread(1, 2), spread(1, 2)}, class(5, 0, holds(0), seen(1))),
		"none to be used": problem([]Rule{spread(1, 2), spread(1, 2)}, class(5, 2, holds(0), seen(1)).limits(0, 0)),
		"too many kinds":  many,
	} {
		t.Run(name, func(t *testing.T) {
			s := newPlanner(compile(p))
			assert.Nil(t, s.separate(newCluster(s.tables)))
		})
	}
}
