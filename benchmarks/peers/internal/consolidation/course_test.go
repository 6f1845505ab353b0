package consolidation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
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

// A cluster is not settled when pods are missing or do not fit.
func TestSettled(t *testing.T) {
	c := small(t)
	k, err := karpenter.NewConsolidation(t.Context(), c)
	require.NoError(t, err)
	o := k.Outcome()
	require.NoError(t, settled(c, o))
	o.Machines[0].Pods = nil
	require.EqualError(t, settled(c, o), "1 of 2 pods have a place in the end")
	o = k.Outcome()
	o.Machines[1].Pods = append(o.Machines[1].Pods, o.Machines[0].Pods...)
	o.Machines[0].Pods = o.Machines[1].Pods[1:]
	o.Machines[1].Pods = o.Machines[1].Pods[1:]
	require.ErrorContains(t, settled(c, o), "placed twice")
	o = k.Outcome()
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

// Each step of Plimsoll saves something.
func TestPlimsoll(t *testing.T) {
	c, err := clusters(t).Cluster(12, 1)
	require.NoError(t, err)
	course, err := Plimsoll(t.Context(), "plimsoll", disruption.Planner{}, c)
	require.NoError(t, err)
	require.Positive(t, course.Steps())
	assert.Less(t, course.End().Price, course.Begin().Price)
	assert.Positive(t, course.First)
	for i, p := range course.Points[1:] {
		assert.Less(t, p.Price, course.Points[i].Price)
		assert.GreaterOrEqual(t, p.Moved, course.Points[i].Moved)
	}
	c.Nodes[0].Name = ""
	_, err = Plimsoll(t.Context(), "plimsoll", disruption.Planner{}, c)
	assert.ErrorIs(t, err, scheduling.ErrInvalid)
}
