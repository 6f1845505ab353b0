package schedulingtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestCluster(t *testing.T) {
	all := st.ClusterOptions{Nodes: 40, Spot: true, PDBs: true, Spread: true, Apart: true, DaemonSets: 2}
	for name, o := range map[string]st.ClusterOptions{
		"plain":      {Nodes: 30},
		"everything": all,
		"small":      {Nodes: 10, Removed: 0.5, PDBs: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := st.Cluster(7, o)
			assert.Equal(t, c, st.Cluster(7, o), "the same seed")
			assert.NotEqual(t, len(c.Running), len(st.Cluster(8, o).Running), "another seed")
			require.NoError(t, provisioning.Validate(&c.Problem))

			assert.InDelta(t, o.Nodes, len(c.Nodes), 0.5*float64(o.Nodes))
			assert.Len(t, c.Machines, len(c.Nodes))
			assert.Empty(t, c.Pods)
			assert.Equal(t, o.PDBs, len(c.PodDisruptionBudgets) > 0)
			kept := 0
			spotNodes := 0
			for _, pod := range c.Running {
				assert.NotEmpty(t, pod.Spec.NodeName)
				if pod.Namespace == "default" {
					kept++
				}
			}
			for _, node := range c.Nodes {
				assert.NotEmpty(t, node.Labels[corev1.LabelTopologyZone])
				if node.Labels[offerings.CapacityTypeLabel] == string(offerings.Spot) {
					spotNodes++
				}
			}
			assert.Equal(t, o.Spot, spotNodes > 0)
			low, high := 0.35, 0.85
			if o.Removed > 0 {
				low, high = 0.4, 0.6
			}
			assert.Greater(t, float64(kept), low*float64(20*o.Nodes))
			assert.Less(t, float64(kept), high*float64(20*o.Nodes))
		})
	}
}

// The nodes of a cluster have room for all pods that run there, DaemonSet pods included.
func TestClusterHoldsItsPods(t *testing.T) {
	c := st.Cluster(3, st.ClusterOptions{Nodes: 30, Removed: 0.001, DaemonSets: 2, Spread: true, Apart: true})
	used := map[string]int64{}
	for _, pod := range c.Running {
		used[pod.Spec.NodeName] += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	}
	for _, node := range c.Nodes {
		assert.LessOrEqual(t, used[node.Name], node.Status.Allocatable.Cpu().MilliValue(), node.Name)
		assert.Greater(t, used[node.Name], node.Status.Allocatable.Cpu().MilliValue()/2, node.Name)
	}
}

// A used cluster keeps its limit, and its nodes hold their pods.
func TestUsedCluster(t *testing.T) {
	catalog := st.Cluster(7, st.ClusterOptions{Nodes: 1}).Catalog
	c := st.UsedCluster(7, 40, catalog)
	assert.Equal(t, c, st.UsedCluster(7, 40, catalog), "the same seed")
	require.NoError(t, provisioning.Validate(&c.Problem))
	require.Len(t, c.Nodes, 40)
	require.Len(t, c.Machines, 40)
	used, all, cores := map[string]int64{}, int64(0), int64(0)
	for _, pod := range c.Running {
		n := pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		used[pod.Spec.NodeName], all = used[pod.Spec.NodeName]+n, all+n
	}
	types := map[string]bool{}
	for _, node := range c.Nodes {
		assert.LessOrEqual(t, used[node.Name], node.Status.Allocatable.Cpu().MilliValue(), node.Name)
		types[node.Labels[corev1.LabelInstanceTypeStable]], cores = true, cores+node.Status.Capacity.Cpu().MilliValue()
	}
	assert.InDelta(t, 0.5, float64(all)/float64(cores), 0.15)
	assert.Greater(t, len(types), 5)
	assert.Less(t, cores, c.NodePools[0].Spec.Limits.Cpu().MilliValue())
	assert.NotEmpty(t, c.PodDisruptionBudgets)
}

func TestClusterBudgetsAreCounted(t *testing.T) {
	c := st.Cluster(5, st.ClusterOptions{Nodes: 50, PDBs: true})
	pods := map[string]int{}
	for _, pod := range c.Running {
		pods[pod.Labels["app"]]++
	}
	blocked := 0
	for _, b := range c.PodDisruptionBudgets {
		n := pods[b.Name]
		assert.EqualValues(t, n, b.Status.ExpectedPods, b.Name)
		assert.Equal(t, b.Generation, b.Status.ObservedGeneration)
		assert.LessOrEqual(t, b.Status.DisruptionsAllowed, int32(n))
		if b.Status.DisruptionsAllowed == 0 {
			blocked++
		}
	}
	assert.Less(t, blocked, len(c.PodDisruptionBudgets)/3)
}

// A cluster of the largest size of the benchmarks.
func BenchmarkCluster(b *testing.B) {
	for b.Loop() {
		c := st.Cluster(1, st.ClusterOptions{Nodes: 2000, Spot: true, PDBs: true, Spread: true, Apart: true, DaemonSets: 2})
		assert.Greater(b, len(c.Nodes), 1400)
	}
}
