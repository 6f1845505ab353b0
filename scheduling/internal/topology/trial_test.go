package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTrial(t *testing.T) {
	two := []Rule{spread(1, 2), spread(1, 2)}
	for _, c := range []struct {
		name   string
		p      *Problem
		counts [][]int64
		lost   [2]int64 // at least and at most
	}{
		{name: "even", p: problem(two, class(40, 2, self(0))), counts: [][]int64{{20, 20}}},
		{name: "uneven", p: problem(two, class(40, 2, self(0))), counts: [][]int64{{30, 10}}, lost: [2]int64{19, 19}},
		{
			name: "each other's pods", p: problem(two, class(40, 2, holds(0), seen(1)), class(40, 2, holds(1), seen(0))),
			counts: [][]int64{{20, 20}, {20, 20}}, lost: [2]int64{0, 70},
		},
		{
			name: "an affinity waits", p: problem([]Rule{affinity(2)}, class(9, 2, holds(0)), class(1, 2, seen(0))),
			counts: [][]int64{{9, 0}, {1, 0}},
		},
		{
			name: "and waits for ever", p: problem([]Rule{affinity(2)}, class(9, 2, holds(0)), class(1, 2, seen(0))),
			counts: [][]int64{{9, 0}, {0, 1}}, lost: [2]int64{9, 9},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, all := planned(c.p, c.counts)
			for seed := range uint64(20) {
				lost := s.trial.run(all, s.placed, s.reach, seed)
				assert.GreaterOrEqual(t, lost, c.lost[0])
				assert.LessOrEqual(t, lost, c.lost[1])
				assert.Equal(t, lost, s.trial.run(all, s.placed, s.reach, seed), "the same order again")
			}
		})
	}
}

// TestTrialOrders checks that seeds stand for different orders: some leave pods that
// wait for each other.
func TestTrialOrders(t *testing.T) {
	p := problem([]Rule{affinity(2)}, class(1, 2, self(0)), class(1, 2, seen(0)))
	s, all := planned(p, [][]int64{{1, 0}, {0, 1}})
	found := map[int64]bool{}
	for seed := range uint64(20) {
		found[s.trial.run(all, s.placed, s.reach, seed)] = true
	}
	assert.Equal(t, map[int64]bool{0: true, 1: true}, found)
}

func TestRisk(t *testing.T) {
	two := []Rule{spread(1, 2), spread(1, 2)}
	s, all := planned(problem(two, class(40, 2, self(0))), [][]int64{{20, 20}})
	assert.Zero(t, s.risk(all))
	s, all = planned(problem(two, class(40, 2, self(0))), [][]int64{{30, 10}})
	assert.Equal(t, risk{lost: 19 * trialsMost, doubt: 30}, s.risk(all))
	s, all = planned(problem(two, class(9_000, 2, holds(0), seen(1)), class(9_000, 2, holds(1), seen(0))),
		[][]int64{{4_500, 4_500}, {4_500, 4_500}})
	assert.Equal(t, risk{doubt: 18_000}, s.risk(all), "too many pods to try")
}
