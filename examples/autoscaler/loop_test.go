package main

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/plimsoll-go/plimsoll/internal/soak" // collects less garbage
	"github.com/plimsoll-go/plimsoll/offerings"
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
	l.consistent(t)
	return l
}

// consistent checks that the cloud's machines are the nodes, that no node holds more than it
// has room for, and that every pod is somewhere.
func (l *loop) consistent(t *testing.T) {
	t.Helper()
	require.Len(t, l.cluster.nodes, len(l.cloud.instances))
	require.Len(t, l.cluster.machines, len(l.cloud.instances))
	for name := range l.cloud.instances {
		require.Contains(t, l.cluster.nodes, name)
		empty := agentPod("nobody")
		empty.Spec.Containers[0].Resources.Requests = nil
		if l.cluster.ready(name) {
			require.True(t, l.fits(empty, name), "node %s is too full", name)
		}
	}
	for name, p := range l.cluster.pods {
		if p.Spec.NodeName != "" {
			require.Contains(t, l.cluster.nodes, p.Spec.NodeName, name)
		}
	}
}

// Everything at once, in the hours in which most happens.
func TestHours(t *testing.T) {
	opts := defaults()
	opts.interruptions, opts.seed = 200, 5 // one of the seeds with which all of it comes to pass
	l := simulated(t, opts, 4*time.Hour)
	last := l.ledger.points[len(l.ledger.points)-1]
	require.Greater(t, last.pods, 150)
	require.LessOrEqual(t, last.pending, last.pods/5, "pods come all the time, and wait for a minute")
	require.Zero(t, l.ledger.unplaced)
	require.Greater(t, l.ledger.launches, 20)
	require.Positive(t, l.ledger.refusals, "offerings run out, and the next option is taken")
	require.Positive(t, l.ledger.interruptions)
	reasons := map[disruption.Reason]int{}
	for _, e := range l.ledger.log {
		reasons[e.step.Reason]++
	}
	require.Positive(t, reasons[disruption.Interrupted])
	require.Positive(t, reasons[disruption.Drifted])
	require.Positive(t, reasons[disruption.Underutilized])
	require.Zero(t, l.ledger.killed, "two minutes are enough")
	for _, p := range l.ledger.points[120:] {
		require.GreaterOrEqual(t, p.price.USD(), 0.8*p.bound.USD(), "the bound is that of an hour ago at most")
	}
	var out bytes.Buffer
	l.ledger.print(&out)
	require.Contains(t, out.String(), "which killed 0 pods")
}

// The same seed gives the same hours, another seed others.
func TestSimulationIsDeterministic(t *testing.T) {
	told := func(seed uint64) string {
		opts := defaults()
		opts.seed, opts.policy.Effort = seed, scheduling.EffortFast
		var out bytes.Buffer
		l := simulated(t, opts, 30*time.Minute)
		l.ledger.print(&out)
		return out.String()
	}
	require.Equal(t, told(1), told(1))
	require.NotEqual(t, told(1), told(2))
}

// Small changes of prices move no pod once the cluster is consolidated. The loop itself checks that the moves after a
// third of the pods have ended save as much as they must. No pod moves twice, and after two hours none moves any more.
func TestSteadyLoadStaysWhereItIs(t *testing.T) {
	opts := defaults()
	opts.steady, opts.noise, opts.interruptions, opts.every, opts.surge = true, 0.02, 0, 30*time.Minute, 50*time.Minute
	opts.policy.Effort = scheduling.EffortFast
	l := simulated(t, opts, 210*time.Minute)
	gone := start().Add(opts.surge)
	for _, e := range l.ledger.log {
		require.Contains(t, []disruption.Reason{disruption.Underutilized, disruption.Empty}, e.step.Reason)
		if e.step.Reason == disruption.Underutilized {
			require.GreaterOrEqual(t, e.step.SavingPerHour, opts.saving.PerHour)
		}
		require.True(t, e.at.Before(gone.Add(2*time.Hour)), "a step at %v saves %s", e.at, e.step.SavingPerHour)
	}
	require.Zero(t, l.ledger.unplaced+l.ledger.killed+l.ledger.interruptions)
	require.Positive(t, l.ledger.moved)
	require.Equal(t, 1, l.ledger.most())
}

// A step that saves less than it has to stops the simulation.
func TestWorthwhile(t *testing.T) {
	opts := defaults()
	opts.policy.Effort = scheduling.EffortFast
	l, err := newLoop(opts)
	require.NoError(t, err)
	require.NoError(t, l.world())
	require.NoError(t, l.provision(t.Context()))
	name := slices.Sorted(maps.Keys(l.cloud.instances))[0]
	price := l.cloud.price(name)
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

// An option that has run out is not requested again, and another option is bought.
func TestBuyTakesTheNextOption(t *testing.T) {
	opts := defaults()
	opts.policy.Effort = scheduling.EffortFast
	l, err := newLoop(opts)
	require.NoError(t, err)
	require.NoError(t, l.world())
	require.NoError(t, l.tell())
	plan, err := l.session.Plan(t.Context())
	require.NoError(t, err)
	launch := &plan.Launches[0]
	require.Greater(t, len(launch.Options), 2)
	first, second := &launch.Options[0], &launch.Options[1]
	l.cloud.depth[first.Key()] = 0
	name, err := l.buy(launch, 0)
	require.NoError(t, err)
	require.Equal(t, second.Key(), l.cloud.instances[name].offering)
	require.True(t, l.unavailable.Has(first.Key(), l.now))
	require.False(t, l.cluster.ready(name), "it is on its way")
	require.Equal(t, 1, l.ledger.refusals)

	if second.Price > first.Price {
		_, err = l.buy(launch, second.Price-first.Price)
		require.ErrorIs(t, err, errNoCapacity, "the next option saves nothing")
	}
	for i := range launch.Options {
		if o := &launch.Options[i]; o.CapacityType == offerings.Spot {
			l.cloud.depth[o.Key()] = 0
		}
	}
	only := *launch
	only.Options = []scheduling.LaunchOption{*first}
	_, err = l.buy(&only, 0)
	require.ErrorIs(t, err, errNoCapacity)
}

func TestCloud(t *testing.T) {
	types, err := catalog()
	require.NoError(t, err)
	require.Greater(t, types.Len(), 20)
	opts := defaults()
	opts.interruptions = 1e6
	c := newCloud(opts, types)
	changes, err := c.hourly(start())
	require.NoError(t, err)
	require.NotEmpty(t, changes)
	for _, change := range changes {
		list, ok := types.Lookup(offerings.Key{InstanceType: change.InstanceType, Zone: change.Zone, CapacityType: change.CapacityType})
		require.True(t, ok)
		require.InDelta(t, list.Price.USD(), change.Price.USD(), list.Price.USD()*opts.noise+1e-9)
	}
	o := &scheduling.LaunchOption{InstanceType: changes[0].InstanceType, Zone: changes[0].Zone, CapacityType: changes[0].CapacityType}
	names := 0
	for {
		_, err := c.launch("p", o, start())
		if errors.Is(err, errNoCapacity) {
			break
		}
		require.NoError(t, err)
		names++
	}
	require.Equal(t, c.depth[o.Key()], names)
	require.Equal(t, changes[0].Price, c.price("p-0001"))
	noticed, gone := c.interrupt(start())
	require.NotEmpty(t, noticed)
	require.Empty(t, gone)
	_, gone = c.interrupt(start().Add(spotNotice))
	require.Subset(t, gone, noticed)
	c.terminate("p-0001")
	_, err = c.launch("p", o, start())
	require.NoError(t, err, "a machine that is given back can be bought again")
}

// Machines are bought once for pods that wait for them; when one is lost on its way, another
// is bought for its pods.
func TestPodsWaitForTheirMachine(t *testing.T) {
	opts := defaults()
	opts.steady, opts.interruptions, opts.policy.Effort = true, 0, scheduling.EffortFast
	l, err := newLoop(opts)
	require.NoError(t, err)
	minute := func() {
		t.Helper()
		require.NoError(t, l.run(t.Context(), tick))
	}
	minute()
	launches, pending := l.ledger.launches, l.cluster.pending()
	require.Positive(t, launches)
	require.Len(t, l.awaited, pending)
	minute()
	require.Equal(t, launches, l.ledger.launches)

	for l.cluster.pending() > 0 {
		minute()
	}
	require.Equal(t, launches, l.ledger.launches)
	require.Equal(t, pending, l.ledger.bound)

	for name := range l.cluster.nodes {
		l.lose(name)
	}
	minute()
	require.Len(t, l.awaited, pending)
	for name := range l.cluster.nodes {
		require.Zero(t, l.lose(name), "nobody is there yet")
	}
	again := l.ledger.launches
	minute()
	require.Greater(t, l.ledger.launches, again)
	require.NotZero(t, l.cluster.pending())
	l.consistent(t)
}
