package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// rendered is the table of a plan.
func rendered(t *testing.T, plan *disruption.ConsolidationPlan) string {
	t.Helper()
	var b bytes.Buffer
	c, err := clouds.Read("testdata/market.json")
	require.NoError(t, err)
	writeMoves(&b, view{width: 120, details: true, stopped: "--timeout"}, &problem{Snapshot: &manifest.Snapshot{Problem: scheduling.Problem{Catalog: c}}}, plan)
	return b.String()
}

// verdicts are n nodes that stay for a cause, at a price each.
func verdicts(prefix string, n int, price string, cause disruption.Cause) []disruption.Verdict {
	var out []disruption.Verdict
	for i := range n {
		out = append(out, disruption.Verdict{
			Node: fmt.Sprintf("%s-%d", prefix, i), Decision: disruption.Keep, PricePerHour: offerings.MustPrice(price), Reasons: []disruption.Cause{cause},
		})
	}
	return out
}

func TestMovesWithoutSteps(t *testing.T) {
	plan := &disruption.ConsolidationPlan{}
	require.Equal(t, "Nothing to consolidate: the input has no nodes.\n", rendered(t, plan))

	plan.Nodes = verdicts("a", 1, "0.1", disruption.Cause{Code: disruption.CauseNoSaving, Detail: "nothing cheaper holds its pods"})
	plan.Summary = disruption.ConsolidationSummary{PricePerHourBefore: 1e8, PricePerHourAfter: 1e8, LowerBoundPerHour: 1e8, NodesBefore: 1, NodesAfter: 1}
	require.Equal(t, `Prices are of all nodes.

               $/MONTH  $/HOUR  NODES
  now          73.00    0.1000  1
  lower bound  73.00    0.1000

Nothing to consolidate now: no cheaper replacement (1 of 1 node).
No steps lead to a lower price.
Prices: testdata/market.json, on-demand as of 2026-11-01, spot as of 2026-11-01.

NODES NOT REMOVED
  COUNT  $/HOUR  CAUSE      MEANING                 NODES
  1      0.1000  no-saving  no cheaper replacement  a-0

EXAMPLES
  a-0: nothing cheaper holds its pods
`, rendered(t, plan))

	plan.Summary.LowerBoundPerHour = 1 // a billionth of a dollar
	plan.Summary.Status = scheduling.StatusDeadline
	plan.Summary.UnpricedNodes = 2
	require.Contains(t, rendered(t, plan), "No lower bound on the price is known. The search was stopped by --timeout; a longer search may find further steps.\n")
	require.Contains(t, rendered(t, plan), "Prices are of all nodes, but for 2 nodes of unknown price.\n")
}

// Nodes that belong to no pool are told of, as they are in no price.
func TestMovesCountNodesOfPools(t *testing.T) {
	plan := &disruption.ConsolidationPlan{Nodes: verdicts("a", 4, "0.1", disruption.Cause{Code: disruption.CauseNoSaving})}
	plan.Summary = disruption.ConsolidationSummary{NodesBefore: 1, UnpricedNodes: 1}
	require.Contains(t, rendered(t, plan), "Prices are of the nodes of NodePools (2 others are not counted), but for 1 node of unknown price.\n")
	plan.Summary.NodesBefore = 3
	require.NotContains(t, rendered(t, plan), "NodePool")
}

func TestMovesWithSteps(t *testing.T) {
	option := scheduling.LaunchOption{InstanceType: "m7i.large", Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.1")}
	plan := &disruption.ConsolidationPlan{
		Steps: []disruption.Step{
			{Reason: disruption.Interrupted, Drain: []string{"s"}, Launches: []scheduling.Launch{{Name: "n-1", Options: []scheduling.LaunchOption{option}}}, SavingPerHour: -offerings.MustPrice("0.05"), DisruptionCost: 3},
			{
				Reason: disruption.Underutilized, Drain: []string{"a", "b", "c", "d", "e"}, SavingPerHour: offerings.MustPrice("0.5"), DisruptionCost: 9.25, Score: 1.234,
				Evictions: []disruption.Eviction{{Pod: "x/a", Wave: 1}, {Pod: "x/b", Wave: 2}},
			},
		},
		Nodes: append(append(verdicts("p", 4, "0.2", disruption.Cause{Code: disruption.CauseBudget, Object: "PodDisruptionBudget/x/db", Detail: "lets no pod go"}),
			verdicts("u", 1, "0", disruption.Cause{Code: disruption.CauseNoNodePool, Detail: "NodePool/old is not there"})...), disruption.Verdict{Node: "a", Decision: disruption.Drain, Step: 2}),
		Summary: disruption.ConsolidationSummary{
			PricePerHourBefore: offerings.MustPrice("2"), PricePerHourAfter: offerings.MustPrice("1.55"), LowerBoundPerHour: offerings.MustPrice("1.5"), Gap: 0.0333,
			NodesBefore: 10, NodesAfter: 5, PodsMoved: 2, Launches: 1, Frontier: []disruption.Point{
				{Steps: 1, SavingPerHour: -offerings.MustPrice("0.05"), DisruptionCost: 3}, {Steps: 2, SavingPerHour: offerings.MustPrice("0.45"), PodsMoved: 2, DisruptionCost: 12.25},
			},
		},
	}
	plan.Nodes[1].Rejected = &disruption.RejectedMove{
		Drain: []string{"p-1", "p-2"}, Launches: []scheduling.LaunchOption{option, option}, PricePerHour: offerings.MustPrice("0.2"), SavingPerHour: offerings.MustPrice("0.2"), DisruptionCost: 4,
		Because: disruption.Cause{Code: disruption.CauseScore, Detail: "it scores 0.2 and needs 0.5"},
	}
	plan.Warnings = []scheduling.Warning{{Object: "Node/z", Message: "odd"}}
	golden(t, "moves.table", rendered(t, plan))
}

func TestMovesThatSaveNothing(t *testing.T) {
	plan := &disruption.ConsolidationPlan{Steps: []disruption.Step{{Reason: disruption.Expired, Drain: []string{"a"}}}, Nodes: []disruption.Verdict{{Node: "a", Decision: disruption.Drain, Step: 1}}}
	plan.Summary = disruption.ConsolidationSummary{PricePerHourBefore: offerings.MustPrice("2"), PricePerHourAfter: offerings.MustPrice("2"), NodesBefore: 1, NodesAfter: 1}
	require.Contains(t, rendered(t, plan), "1 step: 1 → 1 node, saving nothing.\n0 pods rescheduled, 0 nodes launched.\n")
	plan.Summary.PricePerHourAfter = offerings.MustPrice("2.5")
	require.Contains(t, rendered(t, plan), "1 step: 1 → 1 node, costing $0.5000 per hour, $365 per month more.\n")
}

func TestMovesWhoseExpectedPriceIsTheSame(t *testing.T) {
	t.Parallel()
	plan := &disruption.ConsolidationPlan{
		Nodes: verdicts("n", 2, "0.1", disruption.Cause{Code: disruption.CauseNoSaving}),
		Steps: []disruption.Step{{Reason: disruption.Empty, Drain: []string{"n-1"}}},
		Summary: disruption.ConsolidationSummary{NodesBefore: 2, NodesAfter: 1, PricePerHourBefore: 200, PricePerHourAfter: 100,
			AfterScheduling: &disruption.StepsAfterScheduling{PricePerHourAfter: 100, PodsElsewhere: 3}},
	}
	same := "kube-scheduler may schedule up to 3 pods to other nodes than shown;\nthe expected price is the same.\n"
	require.Contains(t, rendered(t, plan), same)
	plan.Summary.AfterScheduling.PricePerHourAfter = 150
	text := rendered(t, plan)
	require.Contains(t, text, "expected after scheduling")
	require.NotContains(t, text, same)
}

func TestAddSaving(t *testing.T) {
	var s disruption.Saving
	for _, text := range []string{"0.05/hour", "$0.01/hour", "0", "30/month", " 5% ", "2%", "0.02/h"} {
		require.NoError(t, addSaving(&s, text), text)
	}
	require.Equal(t, disruption.Saving{PerHour: offerings.MustPrice("0.05"), PerMonth: offerings.MustPrice("30"), Share: 0.05}, s)
	require.Error(t, addSaving(&s, "0.05"), "an amount without a time may be of an hour or of a month")
}
