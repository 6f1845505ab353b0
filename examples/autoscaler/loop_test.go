package main

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	_ "github.com/plimsoll-go/plimsoll/internal/soak" // collects less garbage
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// simulated lets a time pass with every plan checked.
func simulated(t *testing.T, opts options, length time.Duration) *loop {
	t.Helper()
	opts.check = true
	l, err := newLoop(opts)
	require.NoError(t, err)
	require.NoError(t, l.run(t.Context(), length))
	for name, i := range l.world.Cloud.Instances {
		require.Equal(t, i.Joined, l.world.Cluster.Nodes[name] != nil, name)
	}
	for name, p := range l.world.Cluster.Pods {
		if p.Spec.NodeName != "" {
			require.Contains(t, l.world.Cluster.Nodes, p.Spec.NodeName, name)
		}
	}
	return l
}

// Everything at once, in the hours in which most happens.
func TestHours(t *testing.T) {
	opts := defaults()
	opts.interruptions, opts.seed = 200, 2 // one of the seeds with which all of it comes to pass
	l := simulated(t, opts, 4*time.Hour)
	last := l.ledger.points[len(l.ledger.points)-1]
	require.Greater(t, last.pods, 150)
	require.LessOrEqual(t, last.pending, last.pods/5, "pods come all the time, and wait for a minute")
	require.Zero(t, l.ledger.unplaced)
	stats := l.controller.Stats()
	require.Greater(t, stats.Launched, 20)
	require.Positive(t, stats.CapacityFailures, "offerings run out, and the next option is taken")
	require.Positive(t, l.world.Cloud.Interruptions)
	reasons := map[disruption.Reason]int{}
	for _, e := range l.ledger.log {
		reasons[e.step.Reason]++
	}
	require.Positive(t, reasons[disruption.Interrupted])
	require.Positive(t, reasons[disruption.Drifted])
	require.Positive(t, reasons[disruption.Underutilized])
	for _, p := range l.ledger.points[120:] {
		require.GreaterOrEqual(t, p.price.USD(), 0.8*p.bound.USD(), "the bound is that of an hour ago at most")
	}
	var out bytes.Buffer
	l.print(&out)
	require.Contains(t, out.String(), "% above the cheapest possible")
}

// The same seed gives the same hours, another seed others.
func TestSimulationIsDeterministic(t *testing.T) {
	told := func(seed uint64) string {
		opts := defaults()
		opts.seed, opts.policy.Effort = seed, scheduling.EffortFast
		var out bytes.Buffer
		l := simulated(t, opts, 30*time.Minute)
		l.print(&out)
		return out.String()
	}
	require.Equal(t, told(1), told(1))
	require.NotEqual(t, told(1), told(2))
}

// Small changes of prices move no pod once the cluster is consolidated. The loop itself checks that the moves after a
// third of the pods have ended save as much as they must. After two and a half hours no pod moves any more.
func TestSteadyLoadStaysWhereItIs(t *testing.T) {
	opts := defaults()
	opts.steady, opts.noise, opts.interruptions, opts.every, opts.surge = true, 0.02, 0, 30*time.Minute, 50*time.Minute
	opts.policy.Effort = scheduling.EffortFast
	l := simulated(t, opts, 5*time.Hour)
	gone := simulation.Start().Add(opts.surge)
	for _, e := range l.ledger.log {
		require.Contains(t, []disruption.Reason{disruption.Underutilized, disruption.Empty}, e.step.Reason)
		if e.step.Reason == disruption.Underutilized {
			require.GreaterOrEqual(t, e.step.SavingPerHour, opts.saving.PerHour)
		}
		require.True(t, e.at.Before(gone.Add(150*time.Minute)), "a step at %v saves %s", e.at, e.step.SavingPerHour)
	}
	require.Zero(t, l.ledger.unplaced+l.world.Cluster.Killed+l.world.Cloud.Interruptions)
	require.Positive(t, l.controller.Stats().Evictions)
	require.LessOrEqual(t, l.most(), 3, "kube-scheduler binds pods to nodes that a later plan removes")
}

// A step that saves less than it has to stops the simulation.
func TestWorthwhile(t *testing.T) {
	opts := defaults()
	opts.policy.Effort = scheduling.EffortFast
	l := simulated(t, opts, 2*tick)
	name := slices.Sorted(maps.Keys(l.world.Cloud.Instances))[0]
	price := l.world.Cloud.Price(name)
	step := &disruption.Step{Reason: disruption.Underutilized, Drain: []string{name}, SavingPerHour: price}
	l.opts.saving = disruption.Saving{PerHour: price}
	require.NoError(t, l.worthwhile(step))
	l.opts.saving = disruption.Saving{PerHour: price + 1}
	require.ErrorContains(t, l.worthwhile(step), "has to save")
	step.SavingPerHour = price / 10
	l.opts.saving = disruption.Saving{Share: 0.5}
	require.ErrorContains(t, l.worthwhile(step), "has to save")
	step.Reason = disruption.Expired
	require.NoError(t, l.worthwhile(step), "it has to go anyway")
}
