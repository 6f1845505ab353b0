package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnchor plans two spreads that count each other's pods. All that hold one of them
// end up in one zone, the cheapest for them, and the others make up for it.
func TestAnchor(t *testing.T) {
	p := problem([]Rule{spread(1, 3), spread(1, 3)},
		class(5, 3, holds(0), seen(1)).costs(9, 2, 3),
		class(5, 3, holds(1), seen(0)).costs(9, 2, 3),
		class(12, 3, seen(0)), class(12, 3, seen(1)))
	s := newPlanner(compile(p))
	all := newCluster(s.plan.tables)
	s.choice.mode.anchor = newAnchors(all)
	require.NotNil(t, s.choice.mode.anchor)
	s.again(all, s.choice.mode.anchor.order(s.plan.tables, []int32{0, 1, 2, 3}))
	got := s.plan.result()
	assert.Equal(t, [][]int64{{0, 5, 0}, {0, 5, 0}, {6, 1, 5}, {6, 1, 5}}, got.Counts)
	assert.True(t, s.certifier.certified(all))
	assert.Zero(t, s.certifier.risk(all).doubt)
}

// TestSecondAnchor makes one spread count more pods with ties than others can make up
// for: who holds it goes elsewhere.
func TestSecondAnchor(t *testing.T) {
	rules := []Rule{spread(1, 3), spread(1, 3)}
	p := problem(rules,
		class(9, 3, holds(0), seen(1)).costs(1, 2, 3),
		class(3, 3, holds(1), seen(0)).costs(1, 2, 3),
		class(12, 3, seen(0)).costs(1, 2, 3))
	s := newPlanner(compile(p))
	h := newAnchors(newCluster(s.plan.tables))
	require.NotNil(t, h)
	assert.Equal(t, []bool{true, false, false, false, true, false}, h.at)
	assert.Equal(t, int32(0), h.site[0])
	assert.Equal(t, int32(4), h.site[1])

	got := Plan(p)
	assert.Equal(t, []int64{0, 0, 0}, got.Unplaced)
	certain, all := planned(p, got.Counts)
	assert.True(t, certain.certifier.certified(all), "%v", got.Counts)
}

func TestNoAnchor(t *testing.T) {
	for name, p := range map[string]*Problem{
		"one spread":      problem([]Rule{spread(1, 2)}, class(5, 2, self(0))),
		"two of one pod":  problem([]Rule{spread(1, 2), spread(1, 2)}, class(5, 2, self(0), self(1))),
		"a preference":    problem([]Rule{spread(1, 2), spread(1, 2).preference(1)}, class(5, 2, holds(0), seen(1))),
		"anti-affinity":   problem([]Rule{spread(1, 2), anti(2)}, class(5, 2, holds(0), seen(1))),
		"no sites":        problem([]Rule{spread(1, 2), spread(1, 2)}, class(5, 0, holds(0), seen(1))),
		"none to be used": problem([]Rule{spread(1, 2), spread(1, 2)}, class(5, 2, holds(0), seen(1)).limits(0, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newPlanner(compile(p))
			assert.Nil(t, newAnchors(newCluster(s.plan.tables)))
		})
	}
}

// TestAnchorOfSome leaves one class without the zone that is the anchor of the others.
func TestAnchorOfSome(t *testing.T) {
	rules := []Rule{spread(1, 2), spread(1, 2)}
	p := problem(rules,
		class(4, 2, holds(0), seen(1)).at(0), class(1, 2, holds(1), seen(0)).at(1),
		class(6, 2, seen(0)), class(6, 2, seen(1)))
	s := newPlanner(compile(p))
	h := newAnchors(newCluster(s.plan.tables))
	require.NotNil(t, h)
	assert.Equal(t, []int32{0, 1, -1, -1}, h.site)
	got := Plan(p)
	assert.Equal(t, []int64{0, 0, 0, 0}, got.Unplaced)
	assert.True(t, binds(p, got.Counts, reachable(p)))
}
