package disruption_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// wornCluster is what a cluster that was packed well once looks like, and how far above the
// proven bound a plan for it may end.
type wornCluster struct {
	name    string
	options st.ClusterOptions
	gap     float64
	hard    bool // takes long
}

func wornClusters() []wornCluster {
	return []wornCluster{
		{"plain", st.ClusterOptions{}, 0.03, true},
		{"spot", st.ClusterOptions{Spot: true}, 0.03, true},
		{"budgets", st.ClusterOptions{PDBs: true}, 0.03, false},
		{"apart", st.ClusterOptions{Apart: true}, 0.03, true},
		{"spread", st.ClusterOptions{Spread: true, DaemonSets: 2}, 0.03, true},
		{"all", st.ClusterOptions{Spot: true, PDBs: true, Spread: true, Apart: true, DaemonSets: 2}, 0.03, true},
	}
}

// What a worn cluster comes to is little more than buying it afresh is proven to
// cost, and when the steps are done nothing is left to do, now or later.
func TestWornClusters(t *testing.T) {
	for _, w := range wornClusters() {
		for _, nodes := range []int{30, 100} {
			if (nodes > 30 || w.hard || race.Enabled) && !soak.Long() {
				continue
			}
			t.Run(fmt.Sprintf("%s-%d", w.name, nodes), func(t *testing.T) {
				w.options.Nodes = nodes
				c := st.Cluster(uint64(nodes), w.options)
				start := time.Now()
				plan, err := disruption.Planner{}.Plan(context.Background(), c)
				require.NoError(t, err)
				took := time.Since(start)
				require.NoError(t, verify.Steps(c, plan))
				s := plan.Summary
				t.Logf("%v -> %v, bound %v, gap %.2f %%; %d steps, %d pods of %d moved, %d launches, %v, judged in %v", s.PricePerHourBefore, s.PricePerHourAfter,
					s.LowerBoundPerHour, 100*s.Gap, len(plan.Steps), s.PodsMoved, len(c.Running), s.Launches, took, time.Since(start)-took)
				assert.Positive(t, s.LowerBoundPerHour)
				assert.LessOrEqual(t, s.Gap, w.gap)
				for _, later := range []time.Duration{0, time.Hour} {
					again, err := disruption.Planner{}.Plan(context.Background(), st.Apply(c, later, plan.Steps...))
					require.NoError(t, err)
					assert.Empty(t, again.Steps, "planned again %v later", later)
				}
			})
		}
	}
}

// Every change to an eviction, a price or a drain of a right plan is told.
func TestChangesToPlansAreTold(t *testing.T) {
	if race.Enabled {
		t.Skip("the judge knows no goroutines")
	}
	c := st.Cluster(12, st.ClusterOptions{Nodes: 12, PDBs: true})
	plan, err := disruption.Planner{}.Plan(context.Background(), c)
	require.NoError(t, err)
	require.NoError(t, verify.Steps(c, plan))
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	for i := range plan.Steps {
		changes := map[verify.Code]func(s *disruption.Step){
			verify.CodeStepSaving: func(s *disruption.Step) { s.SavingPerHour++ },
			verify.CodeStepCost:   func(s *disruption.Step) { s.DisruptionCost++ },
			verify.CodeBudgetUse:  func(s *disruption.Step) { s.NodePools[0].Nodes++ },
		}
		if len(plan.Steps[i].Evictions) > 0 {
			changes[verify.CodeEvictionMissing] = func(s *disruption.Step) { s.Evictions = s.Evictions[1:] }
			changes[verify.CodeLanding] = func(s *disruption.Step) { s.Evictions[0].To = s.Drain[0] }
			changes[verify.CodeWave] = func(s *disruption.Step) { s.Evictions[0].Wave += 2 }
			changes[verify.CodeEvictionUnknown] = func(s *disruption.Step) { s.Evictions[0].From = "elsewhere" }
			changes[verify.CodeMovedTwice] = func(s *disruption.Step) { s.Evictions = append(s.Evictions, s.Evictions[0]) }
		}
		for code, change := range changes {
			var other disruption.ConsolidationPlan
			require.NoError(t, json.Unmarshal(text, &other))
			change(&other.Steps[i])
			var report *verify.Report
			require.ErrorAs(t, verify.StepsChecker{SkipBound: true}.Steps(c, &other), &report)
			assert.True(t, report.Has(code), "steps[%d]: %s: %v", i, code, report)
		}
	}
}
