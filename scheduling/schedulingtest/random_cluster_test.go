package schedulingtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestRandomClustersAreValidAndMixed(t *testing.T) {
	if race.Enabled {
		t.Skip("the generators know no goroutines")
	}
	const seeds = 100
	seen := map[string]int{}
	note := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	for seed := range soak.Cases(seeds) {
		c := st.RandomCluster(seed)
		require.NoError(t, provisioning.Validate(&c.Problem), "seed %d", seed)
		if seed%10 == 0 {
			require.Equal(t, c, st.RandomCluster(seed))
		}
		machines := map[string]bool{}
		for _, m := range c.Machines {
			require.False(t, machines[m.Node], "seed %d: %s twice", seed, m.Node)
			machines[m.Node] = true
			note("interrupted", m.Interruption != nil)
			note("drifted", m.Drift != "")
			note("ahead", m.Created.After(c.Now))
			note("nominated", !m.NominatedUntil.IsZero())
			note("terminating", m.Terminating)
		}
		for _, n := range c.Nodes {
			note("node", true)
			note("node without machine", !machines[n.Name])
			note("node left alone", n.Annotations["karpenter.sh/do-not-disrupt"] != "")
			note("deleting node", n.DeletionTimestamp != nil)
			note("node of unknown pool", n.Labels[scheduling.NodePoolLabel] == "gone")
			note("node of unknown type", n.Labels[corev1.LabelInstanceTypeStable] == "gone.large")
			note("in flight", n.Labels[scheduling.InitializedLabel] == "" && n.Labels[scheduling.NodePoolLabel] != "")
		}
		for _, p := range c.Running {
			note("pod", true)
			note("pod left alone", p.Annotations["karpenter.sh/do-not-disrupt"] != "")
			note("deleting pod", p.DeletionTimestamp != nil)
		}
		for _, p := range c.NodePools {
			d := p.Spec.Disruption
			note("static", p.Spec.Replicas != nil)
			note("policy "+string(d.ConsolidationPolicy), true)
			for _, b := range d.Budgets {
				note("budget with a schedule", b.Schedule != nil)
				note("budget for reasons", b.Reasons != nil)
				note("empty budget", b.Nodes == "0")
			}
		}
		for _, b := range c.PodDisruptionBudgets {
			note("pod budget", true)
			note("blocked pod budget", b.Status.ObservedGeneration > 0 && b.Status.DisruptionsAllowed == 0)
			note("unseen pod budget", b.Status.ObservedGeneration == 0)
		}
		note("waiting pods", len(c.Pods) > 0)
		note("volumes", len(c.Volumes) > 0)
	}
	for _, what := range []string{
		"interrupted", "drifted", "ahead", "nominated", "terminating", "node without machine", "node left alone", "deleting node",
		"node of unknown pool", "node of unknown type", "in flight", "pod left alone", "deleting pod", "static", "policy Balanced",
		"policy WhenEmpty", "budget with a schedule", "budget for reasons", "empty budget", "pod budget", "blocked pod budget",
		"unseen pod budget", "waiting pods", "volumes",
	} {
		assert.Positive(t, seen[what], what)
	}
	assert.Greater(t, seen["pod"], 5*seeds)
	assert.Greater(t, seen["node"], 2*seeds)
}

func TestApply(t *testing.T) {
	kind := st.Type("m.large", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(20)), st.Reserved("a", st.Cents(1), "cr-1", 2))
	onDemand, reserved := kind.Offerings[0], kind.Offerings[1]
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	c := disruption.Cluster{
		Problem: scheduling.Problem{
			Now:       now,
			NodePools: []*scheduling.NodePool{st.NodePool("default")},
			Catalog:   st.MustCatalog(kind),
			Nodes: []*corev1.Node{
				st.Node("one", st.OfPool("default"), st.OfType(kind, onDemand)),
				st.Node("two", st.OfPool("default"), st.OfType(kind, reserved)),
				st.Node("three", st.OfPool("default"), st.OfType(kind, onDemand)),
			},
			Running: []*corev1.Pod{
				st.Pod("moves", st.OnNode("one"), st.Requests(st.Cores(1))),
				st.Pod("follows", st.OnNode("one"), st.Requests(st.Cores(1))),
				st.Pod("waits", st.OnNode("one"), st.Requests(st.Cores(1))),
				st.Pod("daemon", st.OnNode("one"), st.OwnedByDaemonSet("d")),
				st.Pod("stays", st.OnNode("three")),
			},
		},
		Machines: []disruption.Machine{{Node: "one", Created: now}, {Node: "three", Created: now}},
	}
	launch := scheduling.Launch{
		Name: "default-1", NodePool: "default", Pods: []string{"default/follows"},
		Options: []scheduling.LaunchOption{{InstanceType: "m.large", Zone: "a", CapacityType: offerings.Reserved, ReservationID: "cr-1"}},
	}
	step := disruption.Step{
		Drain: []string{"one"}, Launches: []scheduling.Launch{launch},
		Evictions: []disruption.Eviction{
			{Pod: "default/moves", From: "one", To: "three", Wave: 1},
			{Pod: "default/follows", From: "one", To: "default-1", Wave: 1},
			{Pod: "default/waits", From: "one", Wave: 1},
		},
	}
	got := st.Apply(c, time.Hour, step, disruption.Step{Drain: []string{"two"}})
	names := func(nodes []*corev1.Node) (out []string) {
		for _, n := range nodes {
			out = append(out, n.Name)
		}
		return out
	}
	assert.Equal(t, []string{"three", "default-1"}, names(got.Nodes))
	where := map[string]string{}
	for _, pod := range got.Running {
		where[pod.Name] = pod.Spec.NodeName
	}
	assert.Equal(t, map[string]string{"moves": "three", "follows": "default-1", "stays": "three"}, where)
	require.Len(t, got.Pods, 1)
	assert.Equal(t, "waits", got.Pods[0].Name)
	assert.Empty(t, got.Pods[0].Spec.NodeName)
	assert.Equal(t, now.Add(time.Hour), got.Now)
	assert.Equal(t, []disruption.Machine{
		{Node: "three", Created: now, LastPodEvent: now},
		{Node: "default-1", Created: now, Initialized: now, LastPodEvent: now},
	}, got.Machines)
	kept, _ := got.Catalog.Get("m.large")
	for _, o := range kept.Offerings {
		if o.CapacityType == offerings.Reserved {
			assert.EqualValues(t, 2, o.ReservationCount, "one was taken, and one came back")
		}
	}
	require.NoError(t, provisioning.Validate(&got.Problem))

	// The cluster that was given is as it was.
	assert.Equal(t, []string{"one", "two", "three"}, names(c.Nodes))
	assert.Equal(t, "one", c.Running[0].Spec.NodeName)
	assert.Equal(t, now, c.Now)
	assert.Len(t, c.Machines, 2)
	assert.Zero(t, c.Machines[1].LastPodEvent)
}
