package controller

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Pods leave an interrupted node in the round of its notice: they wait neither for the node that replaces it, nor for the end of
// an earlier interruption.
func TestInterruptions(t *testing.T) {
	w := newWorld(t, 1, faults{})
	w.apps = nil
	for i := range 8 {
		w.apps = append(w.apps, app{name: fmt.Sprintf("app-%d", i), cpu: "3", memory: "4Gi", replicas: 1})
	}
	c := w.start(t, 0)
	round := func() {
		_, err := c.Reconcile(t.Context())
		require.NoError(t, err)
		w.step()
	}
	for range 20 {
		round()
	}
	require.Zero(t, c.Stats().PendingPods)
	orders := slices.Sorted(maps.Keys(w.instances))
	require.Greater(t, len(orders), 1)
	launched, evicted := c.Stats().Launched, 0
	for n, order := range orders[:2] {
		i := w.instances[order]
		require.NotEmpty(t, w.on(i.name))
		evicted += len(w.on(i.name))
		i.notice = w.tick + 4
		round()
		require.Equal(t, evicted, c.Stats().Evictions)
		require.Greater(t, c.Stats().Launched, launched+n)
	}
	for range 10 {
		round()
	}
	require.Zero(t, c.Stats().PendingPods)
	require.Zero(t, c.Stats().StepsUnderWay)
	require.Equal(t, evicted, c.Stats().Evictions)
}

// Steps of consolidation that move pods to a node are abandoned once it is interrupted.
func TestInterruptionAbandonsConsolidation(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	interrupted := false
	for round := 0; !interrupted; round++ {
		require.Less(t, round, 200)
		w.apps[0].replicas = 8 - round/15%8
		w.step()
		_, err := c.Reconcile(t.Context())
		require.NoError(t, err)
		for _, step := range c.underway() {
			for _, i := range w.instances {
				if len(step.Evictions) > 0 && i.name == step.Evictions[0].To && i.joined {
					i.notice, interrupted = w.tick+4, true
				}
			}
		}
	}
	require.Len(t, c.queues, 1)
	w.step()
	_, err := c.Reconcile(t.Context())
	require.NoError(t, err)
	require.Positive(t, c.Stats().AbandonedSteps)
	require.Len(t, c.queues, 1)
	require.True(t, c.queues[0].urgent)
}

// A node with a notice for which a plan has no step is planned for again: its pods must not stay until it is gone.
func TestInterruptionIsPlannedAgain(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	rounds := func(n int) {
		for range n {
			_, err := c.Reconcile(t.Context())
			require.NoError(t, err)
			w.step()
		}
	}
	rounds(20)
	w.instances[slices.Min(slices.Collect(maps.Keys(w.instances)))].notice = w.tick + 30
	plans := 0
	c.opts.Consolidating = func(planner disruption.Planner, _ disruption.Cluster, plan *disruption.ConsolidationPlan) error {
		if slices.Equal(planner.Reasons, []disruption.Reason{disruption.Interrupted}) {
			if plans++; plans == 1 {
				plan.Steps = nil
			}
		}
		return nil
	}
	rounds(1)
	require.Equal(t, 1, plans)
	require.Zero(t, c.Stats().Evictions)
	rounds(20)
	require.Equal(t, 2, plans, "once more, and not after that")
	require.Positive(t, c.Stats().Evictions)
	require.Zero(t, c.Stats().PendingPods)
}
