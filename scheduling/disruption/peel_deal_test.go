package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The parts of a step do together what the step does, and each saves something and needs only
// machines that it or parts before it buy.
func TestDeal(t *testing.T) {
	for _, budget := range []string{"3", "100%"} {
		c, step := halves(t, budget)
		parts := c.newPeeling(step).deal()
		assert.Greater(t, len(parts), 1, budget)
		places, there := map[string]int{}, map[string]bool{}
		for _, e := range step.Evictions {
			places[e.To]++
		}
		for i := range step.Launches {
			there[step.Launches[i].Name] = false
		}
		var drained []string
		for _, part := range parts {
			assert.Positive(t, part.SavingPerHour)
			assert.IsIncreasing(t, part.Drain)
			drained = append(drained, part.Drain...)
			for i := range part.Launches {
				assert.False(t, there[part.Launches[i].Name], "bought twice")
				there[part.Launches[i].Name] = true
			}
			for _, e := range part.Evictions {
				assert.Contains(t, part.Drain, e.From)
				bought, launch := there[e.To]
				assert.True(t, bought || !launch, "%s goes to a machine that is bought later", e.Pod)
				places[e.To]--
			}
		}
		assert.ElementsMatch(t, step.Drain, drained)
		for node, n := range places {
			assert.Zero(t, n, "%s takes in as many pods as in the step", node)
		}
	}
}

// A step that saves nothing before its last node goes is not divided.
func TestDealOfWhatHasToGoTogether(t *testing.T) {
	c, step := halves(t, "100%")
	for _, name := range step.Drain {
		c.frame.at[name].price = 1
	}
	assert.Equal(t, []*Step{step}, c.newPeeling(step).deal())
}
