package consolidation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

func clusters(t *testing.T) corpus.Clusters {
	t.Helper()
	market, err := corpus.EC2("us-east-1")
	require.NoError(t, err)
	return corpus.Clusters{Market: market, Budget: "100%"}
}

func small(t *testing.T) disruption.Cluster {
	t.Helper()
	c, err := clusters(t).Cluster(3, 1)
	require.NoError(t, err)
	c.Running = c.Running[:2:2]
	for i, pod := range c.Running {
		pod.Name, pod.Spec.NodeName = []string{"a", "b"}[i], c.Nodes[i].Name
	}
	return c
}

func TestLedger(t *testing.T) {
	c := small(t)
	first, second, third := c.Nodes[0].Name, c.Nodes[1].Name, c.Nodes[2].Name
	zone := c.Nodes[0].Labels[corev1.LabelTopologyZone]
	bought := scheduling.Launch{Name: "new", NodePool: "default", Options: []scheduling.LaunchOption{{InstanceType: "m5.large", Zone: zone, CapacityType: offerings.OnDemand}}}
	moves := func(pod, from, to string) disruption.Eviction {
		return disruption.Eviction{Pod: "default/" + pod, From: from, To: to, Wave: 1}
	}
	for name, tc := range map[string]struct {
		step  disruption.Step
		fault string
		nodes int
		moved int
	}{
		"an empty node goes":     {disruption.Step{Drain: []string{third}}, "", 2, 0},
		"two become a third":     {disruption.Step{Drain: []string{first, second, third}, Launches: []scheduling.Launch{bought}, Evictions: []disruption.Eviction{moves("a", first, "new"), moves("b", second, "new")}}, "", 1, 2},
		"a pod is forgotten":     {disruption.Step{Drain: []string{first}}, "pod default/a is left on node-0000, which has gone", 0, 0},
		"not where it is":        {disruption.Step{Evictions: []disruption.Eviction{moves("a", second, third)}}, "pod default/a is to leave node-0001 and is on \"node-0000\"", 0, 0},
		"to nowhere":             {disruption.Step{Evictions: []disruption.Eviction{moves("a", first, "moon")}}, "pod default/a is to go to moon, which is not there", 0, 0},
		"a node that is unknown": {disruption.Step{Drain: []string{"moon"}}, "node moon is to go and is not there", 0, 0},
		"a name that is taken":   {disruption.Step{Launches: []scheduling.Launch{{Name: first}}}, "launch node-0000: there is a node of that name", 0, 0},
		"what nobody sells":      {disruption.Step{Launches: []scheduling.Launch{{Name: "new", Options: []scheduling.LaunchOption{{InstanceType: "m5.large", Zone: "moon"}}}}}, "launch new: the catalog does not sell m5.large moon", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := open(c)
			require.NoError(t, err)
			require.NoError(t, settled(c, l.outcome()))
			err = l.take(&tc.step)
			if tc.fault != "" {
				require.EqualError(t, err, tc.fault)
				return
			}
			require.NoError(t, err)
			require.NoError(t, settled(c, l.outcome()))
			assert.Equal(t, []int{tc.nodes, tc.moved}, []int{l.point().Nodes, l.point().Moved})
		})
	}
	c.Nodes[0].Labels[corev1.LabelTopologyZone] = "moon"
	_, err := open(c)
	assert.ErrorContains(t, err, "node node-0000: the catalog does not sell ")
}

// A cluster is not settled when pods are missing or do not fit.
func TestSettled(t *testing.T) {
	c := small(t)
	l, err := open(c)
	require.NoError(t, err)
	o := l.outcome()
	require.NoError(t, settled(c, o))
	o.Machines[0].Pods = nil
	require.EqualError(t, settled(c, o), "1 of 2 pods have a place in the end")
	o = l.outcome()
	o.Machines[1].Pods = append(o.Machines[1].Pods, o.Machines[0].Pods...)
	o.Machines[0].Pods = o.Machines[1].Pods[1:]
	o.Machines[1].Pods = o.Machines[1].Pods[1:]
	require.ErrorContains(t, settled(c, o), "placed twice")
	o = l.outcome()
	o.Machines[0].Offering.Price /= 2
	require.ErrorContains(t, settled(c, o), "costs ")
}

// Karpenter saves something, and the changes of its rounds add up to the difference between the first cluster and the
// last.
func TestKarpenter(t *testing.T) {
	c, err := clusters(t).Cluster(12, 1)
	require.NoError(t, err)
	course, err := Karpenter(t.Context(), c)
	require.NoError(t, err)
	require.Positive(t, course.Steps())
	assert.Less(t, course.End().Price, course.Begin().Price)
	assert.Positive(t, course.End().Moved)
	assert.Positive(t, course.Elapsed)
	assert.LessOrEqual(t, course.First, course.Elapsed)
	for i, p := range course.Points[1:] {
		assert.Less(t, p.Price, course.Points[i].Price)
		assert.GreaterOrEqual(t, p.Moved, course.Points[i].Moved)
	}
	c.Nodes[0].Labels[corev1.LabelTopologyZone] = "moon"
	_, err = Karpenter(t.Context(), c)
	assert.ErrorContains(t, err, "karpenter: node node-0000: ")
}

// Plans of Plimsoll can be carried out, and cost as much as the plan says.
func TestPlimsoll(t *testing.T) {
	c, err := clusters(t).Cluster(12, 1)
	require.NoError(t, err)
	course, err := Plimsoll(t.Context(), "plimsoll", disruption.Planner{}, c)
	require.NoError(t, err)
	require.Positive(t, course.Steps())
	assert.Less(t, course.End().Price, course.Begin().Price)
	assert.Positive(t, course.First)
	c.Nodes[0].Name = ""
	_, err = Plimsoll(t.Context(), "plimsoll", disruption.Planner{}, c)
	assert.ErrorIs(t, err, scheduling.ErrInvalid)
}
