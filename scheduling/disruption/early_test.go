package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// In clusters of some size the first step comes long before the others are found, which is
// told here by how often the planner has asked what pods cost. It is the plan's own.
func TestFirstStepComesEarly(t *testing.T) {
	c := st.Cluster(3, st.ClusterOptions{Nodes: 120, PodsPerNode: 12, MaxCPU: 16, Removed: 0.5})
	require.GreaterOrEqual(t, len(c.Nodes), 60)
	asked := 0
	p := disruption.Planner{Solver: scheduling.Solver{Effort: scheduling.EffortFast}, PodCost: func(pod *corev1.Pod) float64 {
		asked++
		return disruption.PodDisruptionCost(pod)
	}}
	first, steps := 0, []disruption.Step{}
	for step, err := range p.Steps(t.Context(), c) {
		require.NoError(t, err)
		if len(steps) == 0 {
			first = asked
		}
		steps = append(steps, step)
	}
	require.Greater(t, len(steps), 5)
	require.Less(t, 3*first, asked)
	plan, err := p.Plan(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, plan.Steps, steps)
	require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan))
}
