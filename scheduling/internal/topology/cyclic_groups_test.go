package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestComponents(t *testing.T) {
	// 0 leads to 1, 2 and back to 0; 3 leads into that component, and 4 to itself.
	component := components([]int32{0, 1, 2, 3, 4}, [][]int32{{1}, {2}, {0}, {0}, {4}, nil})
	assert.Equal(t, component[0], component[1])
	assert.Equal(t, component[0], component[2])
	assert.NotEqual(t, component[0], component[3])
	assert.NotEqual(t, component[0], component[4])
	assert.NotEqual(t, component[3], component[4])
}

func TestCrossed(t *testing.T) {
	three := []Rule{spread(1, 2), spread(1, 2), spread(1, 2)}
	for _, c := range []struct {
		name string
		p    *Problem
		want []bool
	}{
		{"each other's pods", problem(three, class(1, 2, holds(0), seen(1)), class(1, 2, holds(1), seen(0))), []bool{true, true}},
		{"one way only", problem(three, class(1, 2, holds(0), seen(1)), class(1, 2, holds(1))), []bool{false, false}},
		{
			"all around",
			problem(three, class(1, 2, holds(0), seen(1)), class(1, 2, holds(1), seen(2)), class(1, 2, holds(2), seen(0)), class(1, 2, seen(1))),
			[]bool{true, true, true, false},
		},
		{"their own", problem(three, class(1, 2, self(0)), class(1, 2, self(0))), []bool{false, false}},
		{"two of one pod", problem(three, class(1, 2, self(0), self(1))), []bool{false}},
		{
			"their own and each other's: they keep themselves apart",
			problem(three, class(1, 2, self(0), seen(1)), class(1, 2, self(1), seen(0))), []bool{false, false},
		},
		{
			"one of them its own",
			problem(three, class(1, 2, self(0), seen(1)), class(1, 2, holds(1), seen(0))), []bool{false, true},
		},
		{"no sites", problem(three, class(1, 0, holds(0), seen(1)), class(1, 0, holds(1), seen(0))), []bool{false, false}},
		{
			"preferences",
			problem([]Rule{spread(1, 2), spread(1, 2).preference(1)}, class(1, 2, holds(0), seen(1)), class(1, 2, holds(1), seen(0))),
			[]bool{false, false},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newPlanner(compile(c.p))
			assert.Equal(t, c.want, newCluster(s.plan.tables).crossed())
		})
	}
}

// TestOrdinarySpreadsStayApart plans an app in two revisions whose spread selects its own
// pods, with others that tie it to themselves in both directions.
func TestOrdinarySpreadsStayApart(t *testing.T) {
	for _, others := range []int64{3, 5, 30} {
		p := problem([]Rule{spread(1, 3), spread(1, 3)},
			class(60, 3, self(0), seen(1)).costs(9, 10, 11), class(40, 3, self(0), seen(1)).costs(9, 10, 11),
			class(others, 3, seen(0), self(1)).costs(9, 10, 11))
		got := Plan(p)
		for zone := range 3 {
			app := got.Counts[0][zone] + got.Counts[1][zone]
			assert.InDelta(t, 100.0/3, float64(app), 2, "%v", got.Counts)
		}
		assert.Equal(t, []int64{0, 0, 0}, got.Unplaced)
	}
}

// TestCountedPodsAreFree checks that pods which are merely counted go where it is
// cheapest, and level out where it costs nothing.
func TestCountedPodsAreFree(t *testing.T) {
	rules := []Rule{spread(1, 3)}
	got := Plan(problem(rules, class(9, 3, seen(0)).costs(3, 1, 2), class(3, 3, self(0))))
	assert.Equal(t, []int64{0, 9, 0}, got.Counts[0])
	got = Plan(problem(rules, class(9, 3, seen(0)), class(6, 3, self(0))))
	assert.Equal(t, [][]int64{{3, 3, 3}, {2, 2, 2}}, got.Counts)
}
