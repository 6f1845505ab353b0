package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// writeOutcomes writes the cases for people, each of which has its problem.
func writeOutcomes(w *bytes.Buffer, v view, problems []*problem, outcomes []*whatif.Outcome) {
	t := &table{view: v, out: w, alone: true}
	t.oldPrices(problems[0].today, lo.Map(problems, func(p *problem, _ int) instancetypes.Origin { return p.Problem.Catalog.Origin() })...)
	warnings := slices.Clone(outcomes[0].Warnings)
	cost := []string{"$/MONTH"}
	if outcomes[0].Bill != nil {
		cost = []string{"LIST $/MONTH", "BILL $/MONTH"}
	}
	rows := [][]string{{"CASE", "NODES", "MOVES", "LAUNCHES", "DIFFERENCE $/MONTH", "DIFFERENCE %", "ADDED PODS", "NOT PLACED"}}
	var notes []string
	for i, o := range outcomes {
		difference, share, added := "-", "-", "-"
		if o.Added != nil {
			added = fmt.Sprintf("%s (%d)", figures.PlainMonthly(o.Added.PricePerHour), o.Added.Pods)
		}
		switch {
		case o.Unchanged != "":
			difference, share = "n/a", "n/a"
		case o.ComparedWith != "":
			difference, share = figures.ChangeMonthly(o.DifferencePerHour), figures.Change(o.DifferencePerHour, o.Total()-o.DifferencePerHour)
		}
		if i > 0 {
			for _, warning := range o.Warnings {
				if !slices.Contains(outcomes[0].Warnings, warning) {
					warning.Message = "case " + o.Name + ": " + warning.Message
					warnings = append(warnings, warning)
				}
			}
		}
		rows = append(rows, []string{
			o.Name, strconv.Itoa(o.Nodes), strconv.Itoa(o.PodsMoved), strconv.Itoa(o.Launches), difference, share, added, strconv.Itoa(len(o.Unplaced)),
		})
		for _, note := range o.Notes(v.most(3), outcomes[0]) {
			notes = append(notes, o.Name+": "+note+".")
		}
		if o.Status == scheduling.StatusDeadline {
			notes = append(notes, fmt.Sprintf("%s: the search was stopped by %s.", o.Name, v.stopped))
		}
	}
	if !lo.ContainsBy(outcomes, func(o *whatif.Outcome) bool { return o.Added != nil }) {
		rows = lo.Map(rows, func(r []string, _ int) []string { return slices.Delete(r, 6, 7) })
	} else {
		notes = append(notes, "ADDED PODS is the share of their nodes' price in $/month of pods that are not in the baseline, and their number.")
	}
	if len(outcomes) == 1 {
		rows = lo.Map(rows, func(r []string, _ int) []string { return slices.Delete(r, 4, 6) })
	}
	for i := range rows {
		rows[i] = slices.Insert(rows[i], 1, cost...)
		if i < len(outcomes) {
			cost = costOf(outcomes[i])
		}
	}
	t.headed(rows, "DIFFERENCE %", "LAUNCHES")
	t.line("")
	if slices.ContainsFunc(problems, func(p *problem) bool {
		return p.rebuild && strings.Contains(pricelists.Old(p.today, p.Problem.Catalog.Origin()), string(offerings.Spot))
	}) {
		t.line("Old spot prices do not tell which region is cheaper, because they change the most: compare regions with --no-spot.")
	}
	for _, note := range notes {
		t.line("%s", note)
	}
	if outcomes[0].Bill != nil {
		t.line("LIST and BILL are of all nodes, without node overhead. DIFFERENCE is that of the bills, including node overhead.")
	} else {
		t.line("Prices are of the nodes of %s, including node overhead (--node-overhead), after all consolidation steps and the launch of nodes for pending pods.", lo.Ternary(problems[0].grouped, "node groups", "NodePools"))
	}
	t.pricesOfCases(problems, outcomes)
	if len(outcomes) == 1 {
		t.line("Compare with cases, such as --case 'no spot: --no-spot' --case 'arm64: --allow kubernetes.io/arch=arm64'.")
	}
	t.alone = false
	writeWarnings(t, warnings)
}

// costOf is the cost of a case: its price, or its list price and its bill.
func costOf(o *whatif.Outcome) []string {
	if o.Bill == nil {
		return []string{figures.PlainMonthly(o.PricePerHour)}
	}
	return []string{figures.PlainMonthly(o.Bill.List), figures.PlainMonthly(o.Bill.PerHour)}
}

// pricesOfCases names the source of the prices of the cases, once for all cases of the same prices.
func (t *table) pricesOfCases(problems []*problem, outcomes []*whatif.Outcome) {
	said := map[string]bool{}
	for i, p := range problems {
		text := p.madeWith()
		if !said[text] {
			said[text] = true
			t.line("%s%s", lo.Ternary(i > 0, outcomes[i].Name+": ", ""), text)
		}
	}
}
