package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// More effort may end in a dearer cluster from scratch, e.g. one with fewer pods on NodePools of lower weight.
func TestCheapestOfAllEfforts(t *testing.T) {
	fast, more := &rebuildTarget{tally: tally{price: 2_052}}, &rebuildTarget{tally: tally{price: 2_165}}
	of := func(list ...*rebuildTarget) *rebuildTarget { return cheapest(list, (*rebuildTarget).sums) }
	assert.Same(t, fast, of(fast, more))
	fast.unplaced = []string{"shop/web-0"}
	assert.Same(t, more, of(fast, more))
	assert.Nil(t, of())
}
