package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// pinned is many classes that share a spread, each with one zone to go to: they can
// only advance in turns.
func pinned(pods, classes int) *Problem {
	p := problem([]Rule{spread(1, 3)})
	for c := range classes {
		p.Classes = append(p.Classes, class(int64(pods/classes), 3, self(0)).at(c*3/classes))
	}
	return p
}

func TestPlanInTurns(t *testing.T) {
	p := pinned(6_000, 60)
	got := Plan(p)
	for c := range p.Classes {
		assert.Zero(t, got.Unplaced[c], "class %d", c)
	}
	assert.Equal(t, got.Counts, Replay(p, got.Counts, nil))
}

// TestPlanLongChain lets each class wait for the next, in the order that takes the
// most turns.
func TestPlanLongChain(t *testing.T) {
	const links = 200
	p := problem(nil)
	for c := range links {
		p.Rules = append(p.Rules, affinity(2))
		next := class(1, 2, holds(int32(c)), seen(int32(c-1)))
		switch c {
		case 0:
			next = class(1, 2, holds(0))
		case links - 1:
			next = class(1, 2, seen(links-2)).costs(2, 1)
		}
		p.Classes = append(p.Classes, next)
	}
	got := Plan(p)
	for c := range p.Classes {
		assert.Equal(t, []int64{0, 1}, got.Counts[c], "class %d", c)
	}
	assert.Equal(t, got.Counts, Replay(p, got.Counts, nil))
}

// TestReplayInTurns binds pods of two classes that can only advance in turns.
func TestReplayInTurns(t *testing.T) {
	p := problem([]Rule{spread(1, 2)}, class(400, 2, self(0)).at(0), class(400, 2, self(0)).at(1))
	all := [][]int64{{400}, {400}}
	assert.Equal(t, all, Replay(p, all, nil))
}
