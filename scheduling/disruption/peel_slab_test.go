package disruption

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A slab and what is left are the step, and both save something.
func TestSlabs(t *testing.T) {
	for _, budget := range []string{"3", "100%"} {
		c, step := halves(t, budget)
		some, rest := c.newPeeling(step).slabs()
		require.NotNil(t, some, budget)
		assert.LessOrEqual(t, len(some.Drain), 3, budget)
		assert.ElementsMatch(t, step.Drain, slices.Concat(some.Drain, rest.Drain))
		assert.Positive(t, some.SavingPerHour)
		assert.Positive(t, rest.SavingPerHour)
		assert.Equal(t, c.frame.spent(step.Launches), c.frame.spent(slices.Concat(some.Launches, rest.Launches)))
		places := map[string]int{}
		for _, e := range step.Evictions {
			places[e.To]++
		}
		for _, e := range slices.Concat(some.Evictions, rest.Evictions) {
			places[e.To]--
		}
		for node, n := range places {
			assert.Zero(t, n, "%s takes in as many pods as in the step", node)
		}
		for _, e := range some.Evictions {
			assert.Contains(t, some.Drain, e.From)
			assert.NotContains(t, names(rest), e.To, "%s goes to a machine that is bought later", e.Pod)
		}
	}
}

// names are those of a step's launches.
func names(s *Step) (out []string) {
	for i := range s.Launches {
		out = append(out, s.Launches[i].Name)
	}
	return out
}

// There is no slab where budgets allow none, or where one node would have to bear the price
// of what holds the pods of several.
func TestNoSlabs(t *testing.T) {
	for _, budget := range []string{"0", "1"} {
		c, step := halves(t, budget)
		some, rest := c.newPeeling(step).slabs()
		assert.Nil(t, some, budget)
		assert.Nil(t, rest, budget)
	}
}

func TestKindsAreReadOnce(t *testing.T) {
	var k kinds
	read := 0
	kind := func(*corev1.Pod) string { read++; return string([]byte("same")) }
	a, b := pod("a", "n", "1"), pod("b", "n", "1")
	for range 3 {
		assert.Equal(t, k.of(a, kind), k.of(b, kind))
	}
	assert.Equal(t, 2, read)
}
