package disruption

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// A plan that ends early begins like the whole one, and says so of the nodes that stay.
func TestMaxSteps(t *testing.T) {
	node := func(name string) *corev1.Node { return machine(t, name, "m.xlarge", offerings.OnDemand) }
	c := world(t, pool(), []*corev1.Node{node("n1"), node("n2"), node("n3"), node("n4")}, pod("a", "n1", "1"), pod("b", "n2", "1"), pod("c", "n3", "1"))
	whole := planned(t, Planner{}, c)
	require.Greater(t, len(whole.Steps), 1)
	for n := 1; n <= len(whole.Steps); n++ {
		plan := planned(t, Planner{MaxSteps: n}, c)
		require.Equal(t, whole.Steps[:n], plan.Steps)
		require.Equal(t, whole.Summary.Frontier[:n], plan.Summary.Frontier)
		require.Equal(t, plan.Summary.PricePerHourBefore-plan.Summary.Frontier[n-1].SavingPerHour, plan.Summary.PricePerHourAfter)
	}
	require.Contains(t, causes(t, planned(t, Planner{MaxSteps: 1}, c), "n1"), CauseStepsLimit)
	require.Equal(t, whole, planned(t, Planner{MaxSteps: 100}, c))
	_, err := Planner{MaxSteps: -1}.Plan(t.Context(), c)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	require.ErrorContains(t, err, "planner.maxSteps: is negative")
}
