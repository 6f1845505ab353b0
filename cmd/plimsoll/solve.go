package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/judged"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/search"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// solve decides, and has the decision checked by a second opinion before anybody
// sees it.
func (f *solverFlags) solve(ctx context.Context, a *app, s scheduling.Policy, p *problem) (*scheduling.Plan, error) {
	plan, err := f.solveUnderBill(ctx, a, s, p)
	if err == nil {
		plan.Bill = p.bills.Change(nil, plan.Launches)
	}
	return plan, err
}

// solveUnderBill decides by the prices of the catalogs, and where that draws on commitments also by list prices: the plan with the lower
// bill counts.
func (f *solverFlags) solveUnderBill(ctx context.Context, a *app, s scheduling.Policy, p *problem) (plan *scheduling.Plan, err error) {
	plan, err = f.solveAsPriced(ctx, a, s, p)
	if p.bills == nil || err == nil && !bills.Draws(plan) {
		return plan, err
	}
	// Nodes that cost nothing lead the search to types that waste the commitments. Where all of them are used up anyway, a plan at list
	// prices is the better one.
	listed := *p
	listed.Snapshot = lo.ToPtr(*p.Snapshot)
	p.bills.AtListPrices(&listed.Problem)
	other, failed := f.solveAsPriced(ctx, a, s, &listed)
	if failed == nil && (err != nil || p.bills.Prefers(other, plan)) {
		p.bills.AtListPrices(&p.Problem)
		return other, failed
	}
	return plan, err
}

// solveAsPriced decides by the prices of the catalogs.
func (f *solverFlags) solveAsPriced(ctx context.Context, a *app, s scheduling.Policy, p *problem) (plan *scheduling.Plan, err error) {
	p.policy = s
	err = f.search(ctx, a, fmt.Sprintf("planning %s", figures.Count(len(p.Problem.Pods), "pod")), func(ctx context.Context, o scheduling.Observer) error {
		plan, err = provisioning.Planner{Policy: s, Observer: o}.Plan(ctx, p.Problem)
		return err
	})
	if err != nil {
		return nil, err
	}
	if plan, err = judged.Plan(ctx, provisioning.Planner{Policy: s}, p.Problem, plan); err != nil {
		return nil, a.checked(err)
	}
	p.groups().SayPlan(plan)
	return plan, nil
}

// search runs a search for as long as --timeout and the user let it, with its progress shown.
func (f *solverFlags) search(ctx context.Context, a *app, what string, work func(context.Context, scheduling.Observer) error) error {
	a.searching.Store(true)
	stopped, err := search.Watched(ctx, a.stderr, what, f.timeout, work)
	a.stopped = cmp.Or(stopped, a.stopped)
	return err
}

// checked asks for a bug report if package verify refuses a plan of this command, and returns the error.
func (a *app) checked(err error) error {
	if err != nil {
		a.say("The plan did not pass the check of every plan. This is a bug of plimsoll, please report it.")
	}
	return err
}

// mergeWarnings puts warnings of reading and of planning into one order, the notes last.
func mergeWarnings(lists ...[]scheduling.Warning) []scheduling.Warning {
	all := slices.Concat(lists...)
	if all == nil {
		return []scheduling.Warning{}
	}
	slices.SortFunc(all, func(a, b scheduling.Warning) int {
		if a.Note != b.Note {
			return lo.Ternary(b.Note, -1, 1)
		}
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
