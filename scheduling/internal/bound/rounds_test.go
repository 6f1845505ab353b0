package bound

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is to be had with further work is asked for where a bound is lower than wanted for
// want of work, and not else.
func TestFurtherWork(t *testing.T) {
	m := largeMarket(rand.New(rand.NewPCG(9, 1)), 60, 200)
	start := Resource(m.input().Tighten())
	const little, plenty, wanted = 400_000, 400_000_000, 1 << 60
	short := Pattern(m, start.Values, Effort{Work: little})
	full := Pattern(m, start.Values, Effort{Work: plenty})
	require.Less(t, short.Bound, full.Bound, "the work does make a difference")

	further := Pattern(m, start.Values, Effort{Work: little, Further: plenty, Wanted: wanted})
	proven(t, m, further, full.Bound+full.Bound/1_000_000)
	assert.Greater(t, further.Bound, short.Bound)
	assert.Equal(t, short, Pattern(m, start.Values, Effort{Work: little, Further: plenty, Wanted: short.Bound - 1}), "what is wanted is there")
	assert.Equal(t, short, Pattern(m, start.Values, Effort{Work: little, Further: plenty}), "nothing is wanted")
	assert.Equal(t, full, Pattern(m, start.Values, Effort{Work: plenty, Further: plenty, Wanted: wanted}), "it was not for want of work")
	repeats(t, func() Assigned {
		return Pattern(m, start.Values, Effort{Work: little, Further: plenty, Wanted: wanted})
	})
}
