package main

import (
	"fmt"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// bill writes the bill of all nodes before and after a plan, and the use of each commitment; nothing without commitments.
func (t *table) bill(p *problem, removed []string, launches []scheduling.Launch) {
	if p.bills == nil {
		return
	}
	now, after := &p.bills.Now, p.bills.After(removed, launches)
	t.section("BILL OF ALL NODES")
	rows := [][]string{{"", "NOW $/HOUR", "AFTER $/HOUR"}}
	for _, row := range []struct {
		name string
		of   func(*billing.Bill) string
	}{
		{"list prices", func(b *billing.Bill) string { return figures.Plain(b.List) }},
		{"covered by commitments", func(b *billing.Bill) string { return figures.Plain(b.List - b.Uncovered) }},
		{"beside commitments", func(b *billing.Bill) string { return figures.Plain(b.Uncovered) }},
		{"commitments, used or not", func(b *billing.Bill) string { return figures.Plain(b.Committed) }},
	} {
		rows = append(rows, []string{row.name, row.of(now), row.of(&after)})
	}
	t.headed(rows)
	if n := now.Unpriced; n > 0 {
		t.line("%sThe price of %s is not known.", t.indent(), figures.Count(n, "commitment"))
	}
	tabulate(t, "COMMITMENTS", []string{"COMMITMENT", "UNIT", "COMMITTED", "ELSEWHERE", "USED NOW", "AFTER", "UNUSED"}, after.Commitments, func(u billing.Use, i int) []string {
		return []string{u.Commitment, u.Unit, units(u.Amount), units(u.Elsewhere), units(now.Commitments[i].Used), units(u.Used), units(u.Unused)}
	}, "ELSEWHERE")
}

// units writes an amount of a commitment.
func units(n billing.Units) string { return fmt.Sprintf("%.4g", n.Float()) }

// changesOf are the nodes that the steps of a plan remove and launch.
func changesOf(plan *disruption.ConsolidationPlan) (removed []string, launches []scheduling.Launch) {
	return lo.FlatMap(plan.Steps, func(s disruption.Step, _ int) []string { return s.Drain }), lo.FlatMap(plan.Steps, func(s disruption.Step, _ int) []scheduling.Launch { return s.Launches })
}
