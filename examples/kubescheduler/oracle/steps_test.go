package oracle_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// kube-scheduler binds every pod that a plan evicts to the node that its step expects, on clusters that have lost pods
// and on random ones.
func TestSteps(t *testing.T) {
	for _, run := range []struct {
		name     string
		cluster  func(seed uint64) disruption.Cluster
		from, to uint64
		odd      bool
	}{
		{"plain", func(seed uint64) disruption.Cluster { return st.Cluster(seed, st.ClusterOptions{Nodes: 20}) }, 0, 10, false},
		{"all that ties", func(seed uint64) disruption.Cluster {
			return st.Cluster(seed, st.ClusterOptions{Nodes: 12, Spread: true, Apart: true, PDBs: true, DaemonSets: 2, Spot: seed%2 == 1})
		}, 0, 20, false},
		{"small machines", func(seed uint64) disruption.Cluster {
			return st.Cluster(seed, st.ClusterOptions{Nodes: 20, PodsPerNode: 6, MaxCPU: 4, Spread: true, Apart: true, PDBs: true})
		}, 100, 110, false},
		// Where a drained node is the last of its zone, pods are bound once it has been removed.
		{"few nodes", func(seed uint64) disruption.Cluster {
			return st.Cluster(seed, st.ClusterOptions{Nodes: 6 + int(seed%7), Spread: true, Apart: true, PDBs: true, DaemonSets: 2, Spot: true})
		}, 7_000, 7_025, false},
		{"larger", func(seed uint64) disruption.Cluster {
			return st.Cluster(seed, st.ClusterOptions{Nodes: 100, DaemonSets: 2})
		}, 200, 202, false},
		{"odd", st.RandomCluster, 0, 300, true},
		// Pods of nodes that are being removed count there until they have ended.
		{"odd, on their way", st.RandomCluster, 139, 140, true},
		{"odd, more", st.RandomCluster, 1_000, 1_300, true},
	} {
		if testing.Short() {
			run.to = run.from + max((run.to-run.from)/10, 1)
		}
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			steps, moved, warned := 0, 0, 0
			for seed := run.from; seed < run.to; seed++ {
				c := run.cluster(seed)
				plan, found := stepDisagreements(t, c, seed, run.odd)
				for _, d := range found {
					if waits(plan, d.Pod) {
						warned++
						continue
					}
					t.Errorf("seed %d: %v", seed, d)
				}
				if plan != nil {
					steps += len(plan.Steps)
					moved += plan.Summary.PodsMoved
				}
			}
			t.Logf("%d steps move %d pods; of %d the plan warns that they wait", steps, moved, warned)
			assert.LessOrEqual(t, 100*warned, moved+100)
			assert.Positive(t, steps)
			assert.Positive(t, moved)
		})
	}
}

// stepDisagreements plans the consolidation of a cluster with settings drawn from the seed, and asks the oracle about
// the steps.
func stepDisagreements(t *testing.T, c disruption.Cluster, seed uint64, odd bool) (*disruption.ConsolidationPlan, []oracle.Disagreement) {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test
	planner := disruption.Planner{Policy: solver(seed)}
	if odd && dice.IntN(4) == 0 {
		planner.Rebalance = true
	}
	plan, err := planner.Plan(t.Context(), c)
	if err != nil {
		require.ErrorIs(t, err, scheduling.ErrInvalid, "seed %d", seed)
		return nil, nil
	}
	if len(plan.Steps) == 0 {
		return plan, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := oracle.NewSchedulerForSteps(ctx, &c)
	require.NoError(t, err, "seed %d", seed)
	found, err := oracle.CheckSteps(ctx, s, &c, plan)
	require.NoError(t, err, "seed %d", seed)
	return plan, found
}

// waits reports whether a plan warns that a pod may have to wait for others: its node is removed, and topology rules
// count pods that are pending themselves.
func waits(plan *disruption.ConsolidationPlan, pod string) bool {
	for i := range plan.Steps {
		for _, e := range plan.Steps[i].Evictions {
			if e.Pod == pod && plan.Steps[i].Reason == disruption.Interrupted {
				return slices.ContainsFunc(plan.Warnings, func(w scheduling.Warning) bool { return w.Object == "node/"+e.From })
			}
		}
	}
	return false
}
