package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// Machines that would not be full with all that remains are not filled to find that out:
// that large ones are on sale, too, makes no work.
func TestConstructLeavesWhatCannotBeFirstAlone(t *testing.T) {
	work := func(sizes int) (int64, int64) {
		p := mix(300, proportional(sizes, 3, 1), 3)
		s := newSearch(p, Params{})
		a := s.try(s.fill.ShareValues(), false)
		require.Zero(t, total(a.unplaced))
		return s.fill.Work, a.cost
	}
	few, _ := work(100)
	many, _ := work(400)
	assert.Less(t, float64(many), 1.2*float64(few))
}

// Pods that are worth nothing get machines all the same.
func TestConstructBuysForWorthlessPods(t *testing.T) {
	compared := 0
	for seed := range uint64(600) {
		p := modeltest.Random(seed)
		s := newSearch(p, Params{})
		values := s.fill.ShareValues()
		some := make([]float64, len(values))
		for c, v := range values {
			if c%3 > 0 {
				some[c] = v
			}
		}
		a, b := s.try(values, false), s.try(some, false)
		if len(p.Supply) > 0 || s.p.Limited() {
			continue // who comes first makes a difference
		}
		assert.Equal(t, total(a.unplaced), total(b.unplaced), "seed %d", seed)
		compared++
	}
	assert.Greater(t, compared, 50)
}
