package week

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A few hours with each autoscaler: all pods get nodes in minutes, and no cost is below the bound.
func TestHours(t *testing.T) {
	results, err := Compare(t.Context(), Contenders(), Settings{Length: 3 * time.Hour, Seed: 1, Seeds: 1, Parallel: 2})
	require.NoError(t, err)
	require.Len(t, results, len(Contenders()))
	for _, r := range results {
		assert.Positive(t, r.Launched, r.Name)
		assert.LessOrEqual(t, r.Bound, r.Cost, r.Name)
		assert.LessOrEqual(t, r.quantile(0.99), 5*time.Minute, r.Name)
		assert.Zero(t, r.Pending, r.Name)
		assert.Equal(t, names(results[0].hours[2]), names(r.hours[2]), "equal seeds have the same pods")
	}
	t.Log("\n" + Table(results))
}

func names(pods []*corev1.Pod) (out []string) {
	for _, p := range pods {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func TestTable(t *testing.T) {
	assert.Equal(t, "| autoscaler | $ | above the lower bound | evictions | killed | pods that waited | median wait | 99 % | nodes launched | interrupted | nodes |\n"+
		"|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"+
		"| a | 15.00 | 50.0 % | 3 | 1 | 2 | 2.0 min | 3.0 min | 5 | 2 | 4.5 |\n| b | 10.00 | 0.0 % | 0 | 0 | 0 | 0.0 min | 0.0 min | 0 | 0 | 0.0 |\n",
		Table([]Result{
			{Name: "a", Cost: 10, Bound: 10, Evictions: 2, Killed: 1, Waits: []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute}, Launched: 5, Interruptions: 2, Nodes: 4},
			{Name: "a", Cost: 20, Bound: 10, Evictions: 4, Waits: []time.Duration{time.Minute}, Launched: 4, Interruptions: 2, Nodes: 5},
			{Name: "b", Cost: 10, Bound: 10},
		}))
}
