package main

import (
	"fmt"
	"strconv"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/steps"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// kept says why the steps do not lead to what the cluster would cost built anew.
func (m *moves) kept() {
	head := []string{"$/MONTH", "NODES", "CAUSE", "WHAT"}
	tabulate(&m.table, "WHAT KEEPS IT FROM THE PRICE OF A CLUSTER BUILT ANEW", head, m.plan.Summary.Kept, func(k disruption.Kept, _ int) []string {
		return []string{figures.PlainMonthly(k.PerHour), strconv.Itoa(k.Nodes), string(k.Code), report.Meaning(k.Code)}
	}, "CAUSE")
}

// staying lists the nodes that stay, by their first cause, the dearest group first, and
// shows one of each: what stands in the way, and the best move that was found for any of
// them and not taken.
func (m *moves) staying() {
	groups := steps.Stays(m.plan)
	tabulate(&m.table, "NODES THAT STAY", []string{"COUNT", "$/HOUR", "CAUSE", "WHAT", "NODES"}, groups, func(g *steps.Stay, _ int) []string {
		list := lo.Map(g.Nodes, func(v *disruption.Verdict, _ int) string { return v.Node })
		return []string{strconv.Itoa(len(g.Nodes)), figures.Plain(g.Price), string(g.Code), report.Meaning(g.Code), figures.Names(list, m.most(2))}
	}, "CAUSE", "$/HOUR")
	for i, g := range groups {
		if i == 0 {
			m.section("FOR EXAMPLE")
		}
		v := g.Best()
		m.line("  %s: %s", v.Node, steps.Reason(&v.Reasons[0]))
		if v.Rejected != nil {
			m.line("    %s", steps.Rejected(v.Node, v.Rejected))
		}
	}
}

// bill lists what runs and what it costs, by NodePool and group, the dearest first.
func (m *moves) bill() {
	head := []string{"GROUP", "NODES", "TYPES", "CAPACITY", "$/HOUR", "$/MONTH", "CPU", "MEMORY"}
	tabulate(&m.table, "BILL, WITH THE SHARE OF CPU AND MEMORY THAT PODS REQUEST", head, costs.Accounts(&m.Problem, m.plan.Nodes, m.Problem.Catalog), func(a *costs.Account, _ int) []string {
		hourly, inMonth := figures.Plain(a.Price), figures.PlainMonthly(a.Price)
		switch {
		case a.Unpriced == a.Nodes:
			hourly, inMonth = "not known", "not known"
		case a.Unpriced > 0:
			hourly += fmt.Sprintf(" without %d", a.Unpriced)
		}
		paid := figures.Summarise(a.Capacity, 3) // with counts where not all are alike
		if len(a.Capacity) == 1 {
			paid = lo.Keys(a.Capacity)[0]
		}
		return []string{
			a.Name, strconv.Itoa(a.Nodes), figures.Summarise(a.Types, m.most(3)), paid, hourly, inMonth,
			share(a.Requested.CPU, a.Allocatable.CPU), share(a.Requested.Memory, a.Allocatable.Memory),
		}
	})
}

// share writes a part of a whole.
func share(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return figures.Percent(part / whole)
}
