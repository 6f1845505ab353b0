package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A bound that tells zones apart is not looked for where pods cost about as much in all zones
// that they have to use, and the bound without zones is far off.
func TestVainZones(t *testing.T) {
	t.Parallel()
	book := func(costs ...float64) *zoneBook {
		return &zoneBook{
			prover: &prover{classes: [][]model.ClassID{{3}, {4, 5}}, placed: []int64{0, 0, 0, 8, 8}},
			rules:  []zoneRule{{classes: []int{4, 5}, pods: 10, least: []int64{0, 0}, most: []int64{6, 10}, costs: costs}},
		}
	}
	even, uneven := book(1_000, 1_005), book(1_000, 2_000)
	assert.InDelta(t, 2, even.gain(), 1e-9, "four pods have to be in the dearer zone")
	assert.InDelta(t, 400, uneven.gain(), 1e-9)
	assert.True(t, even.vain(900, 1_000))
	assert.False(t, even.vain(998, 1_000), "twice the gain could do")
	assert.False(t, uneven.vain(100, 1_000))
	few := book(1_000, 1_005)
	few.prover.placed[3]--
	assert.False(t, few.vain(900, 1_000), "machines may be needed that hold few of them")
	assert.False(t, (&zoneBook{prover: even.prover, rules: []zoneRule{even.rules[0], uneven.rules[0]}}).vain(100, 1_000))
	assert.False(t, even.splits())
	even.rules[0].least[1] = 1
	assert.True(t, even.splits())
	even.rules[0].classes[0] = 3
	assert.False(t, even.splits(), "those there are at least could be of either class")
	assert.InDelta(t, 1, (&bound.Spread{Least: []int64{1, 0}, Most: []int64{3, 3}, Kinds: []bound.Kind{{Count: 3}}}).Cheapest([]float64{1, 0}), 1e-9)
}
