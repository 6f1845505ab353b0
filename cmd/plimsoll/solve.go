package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/judged"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/search"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// solve decides, and has the decision checked by a second opinion before anybody
// sees it.
func (f *solverFlags) solve(ctx context.Context, a *app, s scheduling.Policy, p *problem) (*scheduling.Plan, error) {
	p.policy = s
	plan, listed, err := p.bills.Launches(p.Problem, func(problem scheduling.Problem) (plan *scheduling.Plan, err error) {
		err = f.search(ctx, a, fmt.Sprintf("planning %s", figures.Count(len(problem.Pods), "pod")), func(ctx context.Context, o scheduling.Observer) error {
			plan, err = provisioning.Planner{Policy: s, Observer: o}.Plan(ctx, problem)
			return err
		})
		if err != nil {
			return nil, err
		}
		plan, err = judged.Plan(ctx, provisioning.Planner{Policy: s}, problem, plan)
		return plan, a.checked(err)
	})
	if err != nil {
		return nil, err
	}
	if listed {
		p.bills.AtListPrices(&p.Problem) // by which the plan was made
	}
	p.groups().SayPlan(plan)
	plan.Bill = p.bills.Change(nil, plan.Launches)
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
