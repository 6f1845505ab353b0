package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is decided about large machines leaves no part of one in the mix for the rest, and takes
// no pod twice.
func TestLargeMachinesAreWhole(t *testing.T) {
	bought, barred := 0, 0
	for zones := 1; zones <= 2; zones++ {
		p := lumpy(200, zones)
		params := Params{Work: 120_000_000}
		at := Search(p, Params{Work: 10_000_000})
		s := newSearch(p, params)
		s.budget = params.Work
		x := s.newMixture(0, at.Solution.Nodes)
		require.NotNil(t, x)
		before := total(x.remaining)
		x.generate(mixRounds)
		first := x.lp.Cost()
		nodes := x.settleLarge()
		spent := 0.0
		for i := range nodes {
			spent += s.fill.costs[nodes[i].Option]
			for _, it := range nodes[i].Items {
				before -= it.N
			}
		}
		bought += len(nodes)
		assert.Equal(t, before, total(x.remaining), "%d zones", zones)
		filling, _ := x.large(largeShare * first)
		assert.Negative(t, filling, "%d zones", zones)
		assert.GreaterOrEqual(t, (spent+x.lp.Cost())*1.001, first, "%d zones: whole machines are no cheaper than parts", zones)
		assert.LessOrEqual(t, spent+x.lp.Cost(), first*1.1, "%d zones", zones)
		for _, no := range x.barred {
			if no {
				barred++
			}
		}
	}
	assert.Positive(t, bought)
	assert.Positive(t, barred)
}
