package week

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/scheduling"
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
		assert.InDelta(t, results[0].Bound, r.Bound, 1e-9, "equal seeds have the same pods")
	}
	t.Log("\n" + Table(results))
}

// Results of former comparisons are not computed again, and an error of Finished ends the comparison.
func TestKnownResults(t *testing.T) {
	c := Contender{Name: "a", Start: func(context.Context, *simulation.World, scheduling.Problem) (Autoscaler, error) {
		return idle{}, nil
	}}
	var finished []uint64
	s := Settings{Length: time.Minute, Seed: 5, Seeds: 3, Known: []Result{{Name: "a", Seed: 6, Length: time.Minute, Cost: 9}, {Name: "a", Seed: 7, Length: time.Hour}}}
	s.Finished = func(r Result) error {
		finished = append(finished, r.Seed)
		return nil
	}
	results, err := Compare(t.Context(), []Contender{c}, s)
	require.NoError(t, err)
	assert.Equal(t, []uint64{5, 7}, finished)
	assert.Len(t, results, 3)
	assert.InDelta(t, 9.0, results[1].Cost, 0)
	full := errors.New("disk is full")
	finished, s.Finished = nil, func(r Result) error {
		finished = append(finished, r.Seed)
		return full
	}
	_, err = Compare(t.Context(), []Contender{c}, s)
	require.ErrorIs(t, err, full)
	assert.Equal(t, []uint64{5}, finished)
}

// idle is an autoscaler that does nothing.
type idle struct{}

func (idle) Upsert(...metav1.Object) error              { return nil }
func (idle) Delete(...metav1.Object) error              { return nil }
func (idle) Reconcile(context.Context, time.Time) error { return nil }

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
