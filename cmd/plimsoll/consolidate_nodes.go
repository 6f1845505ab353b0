package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/steps"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// blocked lists the causes for which nodes stay, each with the saving that it blocks and with its fix. A cause that was not
// tried has a range, because its upper bound alone would look like an amount.
func (m *moves) blocked() {
	head := []string{"$/MONTH", "NODES", "CAUSE", "MEANING", "FIX"}
	tabulate(m.to, "BLOCKED SAVINGS", head, m.plan.Summary.Blocked, func(b disruption.Blocked, _ int) []string {
		return []string{lo.Ternary(b.AtMost(), "0 to ", "") + figures.PlainMonthly(b.PerHour), lo.Ternary(b.Nodes > 0, strconv.Itoa(b.Nodes), "any"), string(b.Code), report.Meaning(b.Code), report.Fix(&b, m.to.view.most(3), false)}
	}, "CAUSE")
	if len(m.plan.Summary.Blocked) == 0 {
		return
	}
	m.to.line("  NODES: nodes for which this is the first cause; fixing it may reveal another.")
	if lo.SomeBy(m.plan.Summary.Blocked, func(b disruption.Blocked) bool { return b.AtMost() }) {
		m.to.line("  0 to N: no full plan was made without this cause, so the saving may be 0.%s", lo.Ternary(m.p.policy.Effort < scheduling.EffortThorough, "\n  --effort thorough makes these plans for all causes that a change can fix.", ""))
	}
}

// rebuilt lists the nodes of the clusters that are rebuilt from scratch, which is the change that owners of node
// groups may want to have: each type with its zones, the most expensive first.
func (m *moves) rebuilt() {
	s := &m.plan.Summary
	title := "REBUILT FROM SCRATCH"
	if m.p.grouped {
		title += ", OF THE GROUPS' OWN TYPES"
	}
	m.composition(title, s.Rebuilt)
	m.composition("REBUILT FROM SCRATCH, OF ANY CURRENT TYPE", s.Alternative)
}

// composition lists the nodes of a cluster by instance type.
func (m *moves) composition(title string, of *disruption.Rebuilt) {
	if of == nil || len(of.Composition) == 0 {
		return
	}
	type kind struct{ pool, instanceType, capacityType string }
	alike := lo.PartitionBy(of.Composition, func(k disruption.NodeKind) kind { return kind{k.NodePool, k.InstanceType, string(k.CapacityType)} })
	priced := func(kinds []disruption.NodeKind) offerings.Price {
		return lo.SumBy(kinds, func(k disruption.NodeKind) offerings.Price { return cmp.Or(k.ExpectedPerHour, k.PricePerHour) })
	}
	slices.SortStableFunc(alike, func(a, b []disruption.NodeKind) int { return cmp.Compare(priced(b), priced(a)) })
	rows := lo.Map(alike, func(kinds []disruption.NodeKind, _ int) []string {
		nodes, existing := lo.SumBy(kinds, func(k disruption.NodeKind) int { return k.Nodes }), lo.SumBy(kinds, func(k disruption.NodeKind) int { return k.Existing })
		price, zones := priced(kinds), map[string]int{}
		for _, k := range kinds {
			zones[k.Zone] += k.Nodes
		}
		return []string{
			strconv.Itoa(nodes), strconv.Itoa(existing), kinds[0].InstanceType, string(kinds[0].CapacityType), figures.Summarise(zones, m.to.view.most(4)), kinds[0].NodePool, figures.Plain(price), figures.PlainMonthly(price),
		}
	})
	head := []string{"NODES", "EXISTING", "INSTANCE TYPE", "CAPACITY", "ZONES", lo.Ternary(m.p.grouped, "NODE GROUP", "NODEPOOL"), "$/HOUR", "$/MONTH"}
	tabulate(m.to, title, head, cut(rows, m.to.view.most(8)), asItIs, "EXISTING", "$/HOUR")
}

// staying lists the nodes that stay, by their first cause, the dearest group first, and
// shows one of each: what stands in the way, and the best move that was found for any of
// them and not taken.
func (m *moves) staying() {
	groups := steps.Stays(m.plan, m.price)
	tabulate(m.to, "NODES NOT REMOVED", []string{"COUNT", "$/HOUR", "CAUSE", "MEANING", "NODES"}, groups, func(g *steps.Stay, _ int) []string {
		list := lo.Map(g.Nodes, func(v *disruption.Verdict, _ int) string { return v.Node })
		price := figures.Plain(g.Price)
		if g.Code == disruption.CauseNoNodePool {
			price = "-" // the bill does not count them
		}
		return []string{strconv.Itoa(len(g.Nodes)), price, string(g.Code), report.Meaning(g.Code), figures.Names(list, m.to.view.most(2))}
	}, "CAUSE", "$/HOUR")
	for i, g := range groups {
		if i == 0 {
			m.to.section("EXAMPLES")
		}
		v := g.Best()
		m.to.line("  %s: %s", v.Node, m.p.cause(&v.Reasons[0]))
		if text := m.p.rejected(v); text != "" {
			m.to.line("    %s", text)
		}
	}
}

// cause writes a cause with the object that it is about. A minimum size that is not stated is an assumption.
func (p *problem) cause(c *disruption.Cause) string {
	text, pool := steps.Reason(c), strings.TrimPrefix(c.Object, "nodepool/")
	if rest, ok := strings.CutPrefix(text, "nodepool/"+pool); ok {
		text = p.groups().Title(pool) + rest
	}
	if _, stated := p.sized[pool]; c.Code == disruption.CauseMinNodes && p.least[pool] > 0 && !stated {
		text += fmt.Sprintf(" (assumed; state the real minimum with --group-size %s=MIN:MAX)", pool)
	}
	return p.groups().Say(text)
}

// rejected writes the best move of a node that was not taken, "" where there is none or where it exchanges the
// node for one of the same price. What speaks against it is said where it is not the first cause.
func (p *problem) rejected(v *disruption.Verdict) string {
	r := v.Rejected
	if r == nil || r.SavingPerHour == 0 {
		return ""
	}
	because := p.cause(&r.Because)
	if len(v.Reasons) > 0 && because == p.cause(&v.Reasons[0]) {
		because = ""
	}
	return steps.Rejected(v.Node, r, because)
}

// price is the expected cost of a node per hour, 0 where the bill does not count it.
func (m *moves) price(v *disruption.Verdict) offerings.Price {
	if v.PricePerHour == 0 {
		return 0
	}
	price, _, _ := costs.Expected(m.p.Problem.CatalogOf(v.NodePool), m.p.policy, offerings.Key{InstanceType: v.InstanceType, Zone: v.Zone, CapacityType: offerings.CapacityType(v.CapacityType)})
	return cmp.Or(price, offerings.Sum(v.PricePerHour, m.p.policy.NodeOverhead))
}

// bill lists the running nodes with their costs, by NodePool and group, the dearest first: nodes of NodePools, the
// total that the first table has, and the others.
func (m *moves) bill() {
	accounts := costs.Accounts(&m.p.Problem, m.plan.Nodes, m.p.policy)
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
	tabulate(m.to, lo.Ternary(m.p.grouped, "COST BY NODE GROUP", "COST BY NODEPOOL"), head, rows, asItIs)
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
		name, strconv.Itoa(a.Nodes), figures.Summarise(a.Types, m.to.view.most(3)), paid, hourly, inMonth,
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
