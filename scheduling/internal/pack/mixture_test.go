package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// lumpy is a problem of mix on machines in which a large one is a bargain only if it is full.
func lumpy(n, zones int) *model.Problem {
	options := clouds(1, zones)
	for o := range options {
		if options[o].Room[0] > 8000 {
			options[o].Cost -= options[o].Cost / 4
			options[o].Price = options[o].Cost
		}
	}
	return mix(n, options, zones)
}

// Machines of a mix hold all pods that the others held, keep every rule and cost less where
// many pods have to be alone; the same ones come out again.
func TestMixOfFillings(t *testing.T) {
	cheaper := 0
	most := 2
	if soak.Long() {
		most = 4
	}
	for zones := 1; zones <= most; zones++ {
		p := lumpy(300, zones)
		params := Params{Work: 12_000_000}
		before := Search(p, Params{Work: 1_000_000})
		after := Improve(p, before, params)
		require.NoError(t, check(p, after.Solution), "%d zones", zones)
		assert.Equal(t, before.Solution.Unplaced, after.Solution.Unplaced)
		assert.LessOrEqual(t, p.Cost(after.Solution.Nodes), p.Cost(before.Solution.Nodes))
		assert.Greater(t, after.Work, before.Work)
		assert.Equal(t, after, Improve(p, before, params), "%d zones", zones)
		if p.Cost(after.Solution.Nodes) < p.Cost(before.Solution.Nodes) {
			cheaper++
		}
	}
	assert.Positive(t, cheaper)
}

// Wherever the deadline cuts in, the machines of a mix hold all pods.
func TestMixCutAnywhere(t *testing.T) {
	p := lumpy(60, 1)
	before := Search(p, Params{Work: 10_000})
	late := 0
	for asks := range 60 {
		left := asks
		after := Improve(p, before, Params{Work: 12_000_000, Late: func() bool { left--; return left < 0 }})
		require.NoError(t, check(p, after.Solution), "after %d", asks)
		if after.Late {
			late++
		}
	}
	assert.Greater(t, late, 30)
}

func TestMixKeepsToWhatIsThere(t *testing.T) {
	for seed := range uint64(300) {
		p := modeltest.Random(seed)
		params := Params{Work: 240_000}
		before := Search(p, Params{Work: 20_000})
		after := Improve(p, before, params)
		require.NoError(t, check(p, after.Solution), "seed %d", seed)
		assert.Equal(t, before.Solution.Unplaced, after.Solution.Unplaced, "seed %d", seed)
		assert.ElementsMatch(t, before.Solution.Bins, after.Solution.Bins, "seed %d", seed)
		assert.LessOrEqual(t, p.Cost(after.Solution.Nodes), p.Cost(before.Solution.Nodes), "seed %d", seed)
	}
}

// Where limits could be in the way, the deadline has passed or pods are left out, an answer
// stays as it is.
func TestMixLeavesAlone(t *testing.T) {
	limited := scarce(mix(60, clouds(1, 2), 2), 1_000_000)
	at := Search(limited, Params{})
	assert.Equal(t, at, Improve(limited, at, Params{Work: 1_000_000}))
	p := lumpy(60, 2)
	at = Search(p, Params{})
	late := at
	late.Late = true
	assert.Equal(t, late, Improve(p, late, Params{Work: 1_000_000}))
	assert.Equal(t, p.Cost(at.Solution.Nodes), p.Cost(Improve(p, at, hurried()).Solution.Nodes))
}

// A search that begins with worths from elsewhere keeps every rule, too.
func TestSearchBeginsWithWorths(t *testing.T) {
	for seed := range uint64(200) {
		p := modeltest.Random(seed)
		worths := newSearch(p, Params{}).fill.ShareValues()
		for c := range worths {
			worths[c] *= 1 + float64(c%3)/10
		}
		out := Search(p, Params{Work: 20_000, ClassValues: worths})
		require.NoError(t, check(p, out.Solution), "seed %d", seed)
	}
	p := lumpy(300, 3)
	plain := Search(p, Params{Work: 100_000})
	shares := newSearch(p, Params{}).fill.ShareValues()
	assert.Equal(t, total(plain.Solution.Unplaced), total(Search(p, Params{Work: 100_000, ClassValues: shares}).Solution.Unplaced))
}
