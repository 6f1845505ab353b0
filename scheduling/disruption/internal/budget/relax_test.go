package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestRelax(t *testing.T) {
	always := scheduling.Budget{Nodes: "0"}
	freeze := scheduled("0", "0 9 * * mon-fri", 8*time.Hour)
	freeze.Reasons = []string{"Underutilized"}
	evening := scheduled("0%", "0 17 * * *", time.Hour)
	drift := scheduling.Budget{Nodes: "0", Reasons: []string{"Drifted"}}
	for name, tc := range map[string]struct {
		budgets      []scheduling.Budget
		nodes, least int
		want         []string
		allowed      int // afterwards
	}{
		"a count is raised to the least":       {[]scheduling.Budget{{Nodes: "20"}, always}, 30, 1, []string{"raise spec.disruption.budgets[1].nodes from 0 to 1"}, 1},
		"a percentage stays a percentage":      {[]scheduling.Budget{{Nodes: "10%"}}, 30, 4, []string{"raise spec.disruption.budgets[0].nodes from 10% to 11%"}, 4},
		"the default":                          {nil, 5, 2, []string{`raise spec.disruption.budgets from the default of 10% to nodes: "21%"`}, 2},
		"no more than all nodes":               {[]scheduling.Budget{always}, 2, 3, []string{"raise spec.disruption.budgets[0].nodes from 0 to 2"}, 2},
		"no nodes":                             {[]scheduling.Budget{always}, 0, 1, nil, 0},
		"those of other reasons stay":          {[]scheduling.Budget{drift}, 5, 2, nil, Unbounded},
		"enough":                               {[]scheduling.Budget{{Nodes: "3"}}, 5, 2, nil, 3},
		"a schedule is waited for":             {[]scheduling.Budget{freeze, {Nodes: "3"}}, 5, 2, []string{`wait until 2026-11-18T17:00:00Z: the budget with schedule "0 9 * * mon-fri" and nodes "0" is active now`}, 3},
		"a schedule alone":                     {[]scheduling.Budget{freeze}, 5, 2, []string{`wait until 2026-11-18T17:00:00Z: the budget with schedule "0 9 * * mon-fri" and nodes "0" is active now`}, 5},
		"and for the one that follows":         {[]scheduling.Budget{evening, freeze}, 5, 2, []string{`wait until 2026-11-18T18:00:00Z: the budget with schedule "0 9 * * mon-fri" and nodes "0" is active now`}, 5},
		"a schedule and a count":               {[]scheduling.Budget{freeze, {Nodes: "1"}}, 5, 2, []string{`wait until 2026-11-18T17:00:00Z: the budget with schedule "0 9 * * mon-fri" and nodes "0" is active now`, "raise spec.disruption.budgets[1].nodes from 1 to 2"}, 2},
		"a schedule that is over":              {[]scheduling.Budget{scheduled("0", "0 2 * * *", time.Hour), always}, 5, 2, []string{"raise spec.disruption.budgets[1].nodes from 0 to 2"}, 2},
		"a schedule that never ends is raised": {[]scheduling.Budget{scheduled("0", "@hourly", time.Hour)}, 5, 2, []string{"raise spec.disruption.budgets[0].nodes from 0 to 2"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			budgets, words := Relax(tc.budgets, tc.nodes, map[string]int{"Underutilized": tc.least}, noon())
			assert.Equal(t, tc.want, words)
			assert.Equal(t, tc.allowed, At(poolWithBudgets(budgets...), noon()).Allowed("Underutilized", tc.nodes))
		})
	}
}
