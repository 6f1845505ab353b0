package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/judged"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// alternatives decides in several ways, and has each checked by a second opinion.
func (f *solverFlags) alternatives(ctx context.Context, a *app, s scheduling.Policy, p *problem) (list []provisioning.Alternative, err error) {
	err = f.search(ctx, a, fmt.Sprintf("planning %s in several ways", figures.Count(len(p.Problem.Pods), "pod")), func(ctx context.Context, _ scheduling.Observer) error {
		list, err = provisioning.Planner{Policy: s}.Alternatives(ctx, p.Problem)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		x := &list[i]
		if x.Plan, err = judged.Plan(ctx, provisioning.Planner{Policy: x.Policy}, p.Problem, x.Plan); err != nil {
			return nil, a.checked(err)
		}
		x.Plan.Warnings = mergeWarnings(p.Warnings, x.Plan.Warnings)
		x.Plan.Bill = p.bills.Change(nil, x.Plan.Launches)
	}
	return list, nil
}

// printAlternatives writes alternatives in a format.
func printAlternatives(a *app, format string, p *problem, list []provisioning.Alternative) error {
	if format == "table" {
		writeAlternatives(&a.stdout, a.view, p, list)
		return nil
	}
	list[0].Plan.Warnings = p.warnOfOldPrices(list[0].Plan.Warnings)
	return a.encode(format, "alternatives", map[string]any{"alternatives": list})
}

// writeAlternatives compares alternatives for people.
func writeAlternatives(w *bytes.Buffer, v view, p *problem, list []provisioning.Alternative) {
	t := &planText{to: &table{view: v, out: w}, p: p, plan: list[0].Plan}
	t.to.oldPrices(p.today, p.Problem.Catalog.Origin())
	s := &list[0].Plan.Summary
	if s.Pods == 0 && s.RoomKept == nil {
		t.headline()
		return
	}
	pods := s.Pods
	switch {
	case t.to.view.stopped != "":
		t.to.line("%s for %s, and possibly more: the search was stopped by %s. Each plan is complete and verified.", figures.Count(len(list), "plan"), figures.Count(pods, "pod"), t.to.view.stopped)
	case len(list) == 1:
		t.to.line("One plan for %s is the best for every goal; without --alternatives it is printed in full.", figures.Count(pods, "pod"))
	default:
		t.to.line("%s for %s. Each plan is complete and verified; --goal GOAL prints one in full.", figures.Count(len(list), "plan"), figures.Count(pods, "pod"))
	}
	t.to.line("%s", t.p.madeWith())
	i := slices.IndexFunc(list, func(a provisioning.Alternative) bool { return slices.Contains(a.Goals, provisioning.GoalCheapest) })
	cheapest := &list[max(i, 0)]
	head := []string{"GOAL", "PLACED", "$/HOUR", "$/MONTH", "VS CHEAPEST", "LOWER BOUND", "NODES", "SPOT", "INTERRUPTIONS/MONTH", "LAUNCHES"}
	rows := append([][]string{head}, lo.Map(list, func(a provisioning.Alternative, _ int) []string { return t.alternative(&a, i >= 0, cheapest) })...)
	t.to.section("ALTERNATIVES, IF EVERY POD IS SCHEDULED AS PLANNED" + lo.Ternary(s.ExpectedPerHour > 0, " (PRICES INCLUDE NODE OVERHEAD)", ""))
	t.to.headed(rows, "LAUNCHES", "$/MONTH", "LOWER BOUND", "SPOT", "INTERRUPTIONS/MONTH", "PLACED")
	if lo.SomeBy(list, func(a provisioning.Alternative) bool { return a.UnratedLaunches > 0 }) {
		t.to.line("\nSpot nodes without an interruption rate in the catalog are not counted.")
	}
}

// objective is the price by which plans are compared.
func objective(s *scheduling.Summary) offerings.Price {
	return cmp.Or(s.ExpectedPerHour, s.PricePerHour)
}

// afterScheduling is the price that a plan is expected to have once kube-scheduler has bound its pods; without an estimate,
// the price of the plan as it is.
func afterScheduling(s *scheduling.Summary) offerings.Price {
	if s.AfterScheduling != nil {
		return s.AfterScheduling.ExpectedPerHour
	}
	return objective(s)
}

// alternative is one row of the comparison.
func (t *planText) alternative(a *provisioning.Alternative, known bool, cheapest *provisioning.Alternative) []string {
	s := &a.Plan.Summary
	against := "-"
	if c := &cheapest.Plan.Summary; known && a.Plan != cheapest.Plan && c.PricePerHour > 0 && len(a.Plan.Unschedulable) == len(cheapest.Plan.Unschedulable) { // the price of fewer pods is no saving
		share := objective(s).USD()/objective(&cheapest.Plan.Summary).USD() - 1
		against = lo.Ternary(share < 0, "", "+") + figures.Percent(share)
	}
	bought := lo.Map(a.Plan.Launches, func(l scheduling.Launch, _ int) scheduling.LaunchOption { return l.Options[0] })
	spot := lo.CountBy(bought, func(o scheduling.LaunchOption) bool { return o.CapacityType == offerings.Spot })
	kinds := lo.CountValuesBy(bought, func(o scheduling.LaunchOption) string { return o.InstanceType })
	interruptions := strconv.FormatFloat(a.InterruptionsPerMonth, 'f', 2, 64)
	if a.UnratedLaunches > 0 {
		interruptions += " and more"
	}
	return []string{
		figures.Join(lo.Map(a.Goals, func(g provisioning.Goal, _ int) string { return string(g) })), strconv.Itoa(s.Placed),
		figures.Plain(objective(s)), figures.PlainMonthly(objective(s)), against,
		figures.Plain(s.LowerBoundPerHour), strconv.Itoa(s.Nodes), strconv.Itoa(spot), interruptions, cmp.Or(figures.Summarise(kinds, t.to.view.most(2)), "nothing"),
	}
}
