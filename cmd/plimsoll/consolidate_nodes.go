package main

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/steps"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// kept says why the steps do not lead to what the cluster would cost built anew.
func (m *moves) kept() {
	head := []string{"$/MONTH", "NODES", "CAUSE", "WHAT"}
	tabulate(&m.table, "BLOCKED SAVINGS", head, m.plan.Summary.Kept, func(k disruption.Kept, _ int) []string {
		return []string{figures.PlainMonthly(k.PerHour), strconv.Itoa(k.Nodes), string(k.Code), report.Meaning(k.Code)}
	}, "CAUSE")
}

// staying lists the nodes that stay, by their first cause, the dearest group first, and
// shows one of each: what stands in the way, and the best move that was found for any of
// them and not taken.
func (m *moves) staying() {
	groups := steps.Stays(m.plan, m.price)
	tabulate(&m.table, "NODES NOT REMOVED", []string{"COUNT", "$/HOUR", "CAUSE", "WHAT", "NODES"}, groups, func(g *steps.Stay, _ int) []string {
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

// price is what a node is expected to cost per hour, 0 where the bill does not count it.
func (m *moves) price(v *disruption.Verdict) offerings.Price {
	if v.PricePerHour == 0 {
		return 0
	}
	price, _, _ := costs.Expected(m.Problem.CatalogOf(v.NodePool), m.policy, offerings.Key{InstanceType: v.InstanceType, Zone: v.Zone, CapacityType: offerings.CapacityType(v.CapacityType)})
	return cmp.Or(price, offerings.Sum(v.PricePerHour, m.policy.NodeOverhead))
}

// bill lists what runs and what it costs, by NodePool and group, the dearest first: those of NodePools, the
// total that the first table has, and the others.
func (m *moves) bill() {
	accounts := costs.Accounts(&m.Problem, m.plan.Nodes, m.policy)
	owned := lo.Filter(accounts, func(a *costs.Account, _ int) bool { return a.Owned })
	rows := lo.Map(owned, func(a *costs.Account, _ int) []string { return m.account(a) })
	if before, _ := totals(&m.plan.Summary); len(accounts) > 1 && len(owned) > 0 {
		s := &m.plan.Summary
		rows = append(rows, []string{"total (now)", strconv.Itoa(s.NodesBefore + s.UnpricedNodes), "", "", figures.Plain(before) + without(s.UnpricedNodes), figures.PlainMonthly(before), "", ""})
	}
	for _, a := range accounts[len(owned):] {
		rows = append(rows, m.account(a))
	}
	head := []string{"GROUP", "NODES", "TYPES", "CAPACITY", "$/HOUR", "$/MONTH", "CPU REQ", "MEM REQ"}
	tabulate(&m.table, lo.Ternary(m.grouped, "COST BY NODE GROUP", "COST BY NODE POOL"), head, rows, asItIs)
}

// without says of how many nodes the price is not known.
func without(unpriced int) string {
	if unpriced == 0 {
		return ""
	}
	return fmt.Sprintf(" without %d", unpriced)
}

// account is a row of the bill.
func (m *moves) account(a *costs.Account) []string {
	hourly, inMonth := figures.Plain(a.Price)+without(a.Unpriced), figures.PlainMonthly(a.Price)
	if a.Unpriced == a.Nodes {
		hourly, inMonth = "not known", "not known"
	}
	paid := figures.Summarise(a.Capacity, 3) // with counts where not all are alike
	if len(a.Capacity) == 1 {
		paid = lo.Keys(a.Capacity)[0]
	}
	name := a.Name
	if !a.Owned {
		name = "not counted: " + name
	}
	return []string{
		name, strconv.Itoa(a.Nodes), figures.Summarise(a.Types, m.most(3)), paid, hourly, inMonth,
		share(a.Requested.CPU, a.Allocatable.CPU), share(a.Requested.Memory, a.Allocatable.Memory),
	}
}

// share writes a part of a whole.
func share(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return figures.Percent(part / whole)
}
