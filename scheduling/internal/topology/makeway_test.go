package topology

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twin is letters in zones of which two cost about the same and the others much more.
func twin(n int32, free int64) *Problem {
	p := letters(n, 5, free)
	for c := range p.Classes {
		for z := range p.Classes[c].Sites {
			p.Classes[c].Sites[z].Cost = []int64{10, 11, 20, 22, 24}[z]
		}
	}
	return p
}

// Where most pods of some kinds go to the second best zone, others can be in the best one. No
// single flock gets there.
func TestOthersMakeWay(t *testing.T) {
	less := 0
	for n := int32(3); n <= 7; n++ {
		p := twin(n, 20)
		x, y := newPlanner(compile(p)), newPlanner(compile(p))
		cl := newCluster(x.tables)
		before, after := x.scatter(cl, 0), y.scatter(cl, 2000)
		require.NotNil(t, before)
		require.NotNil(t, after)
		if !slices.Equal(before.site, after.site) {
			less++
		}

		p.Proofs = 0
		plain := Plan(p)
		p.Proofs = 2000
		got := Plan(p)
		assert.Equal(t, plain.Unplaced, got.Unplaced, "%d kinds", n)
		s, all := planned(p, got.Counts)
		require.True(t, s.certified(all), "%d kinds: %v", n, got.Counts)
		assert.Equal(t, got.Counts, Replay(p, got.Counts, nil))
		assert.LessOrEqual(t, priceOf(p, got.Counts), priceOf(p, plain.Counts), "%d kinds", n)
		assert.Equal(t, got, Plan(p), "the same again")
	}
	assert.Positive(t, less)
}

// What is judged better by [scattered.makeWay] is: it never ends with a worse verdict.
func TestMakeWayGainsOnly(t *testing.T) {
	gains := 0
	for n := int32(3); n <= 6; n++ {
		s := newPlanner(compile(twin(n, 30)))
		cl := newCluster(s.tables)
		cross := s.crossed(cl)
		var flocks, others []int32
		for _, c := range cl.classes {
			if cross[c] {
				flocks = append(flocks, c)
			} else {
				others = append(others, c)
			}
		}
		x := &scattered{planner: s, supply: make([]int64, len(s.p.Rules)), each: make([]int64, len(s.counts.count)),
			add: make([]int64, len(s.counts.count)), home: make([]bool, len(s.counts.count)), flocks: s.flocks(flocks), others: s.flocks(others)}
		x.pin = slices.Repeat([]int{-1}, len(x.others))
		x.price()
		x.settle()
		before := x.judge()
		at := slices.Clone(x.at)
		x.makeWay(0)
		assert.Equal(t, at, x.at, "no work, no change")
		x.makeWay(1_000_000_000)
		after := x.judge()
		assert.False(t, before.less(after), "%d kinds", n)
		assert.NotContains(t, x.pin, 0, "nobody is held to a place in the end")
		if after.less(before) {
			gains++
		}
	}
	assert.Positive(t, gains)
}
