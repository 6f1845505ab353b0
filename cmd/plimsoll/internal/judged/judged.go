package judged

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Steps returns the plan if package verify accepts it. Otherwise it returns the plan up to the step before the first that
// breaks a rule, or, if the fault names no step, the plan without its lower bound. The shorter plan is checked again, and
// has a warning. It is an error if even the plan without steps is refused.
func Steps(ctx context.Context, planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) (*disruption.ConsolidationPlan, error) {
	check := verify.StepsChecker{Planner: planner}
	first := check.Steps(c, plan)
	planner.Observer, ctx = nil, context.WithoutCancel(ctx) // after an interrupt, the best plan so far must be checked all the same
	for err, steps := first, len(plan.Steps)+1; err != nil; {
		if steps = min(steps-1, broken(err)); steps < 0 {
			return nil, first
		}
		short, cause := planner.Shorten(ctx, c, plan, steps)
		if cause != nil {
			return nil, errors.Join(first, cause)
		}
		if err = check.Steps(c, short); err == nil {
			what := "the lower bound is left out, because the plan"
			if left := len(plan.Steps) - steps; left > 0 {
				what = fmt.Sprintf("%s left out, from step %d on, because the plan", figures.Are(left, "step"), steps+1)
			}
			short.Warnings = append(short.Warnings, rejected(what, first))
			return short, nil
		}
	}
	return plan, nil
}

// broken is how many steps there are before the first at which a report says that a rule is broken; as
// many as there may be where it names none.
func broken(err error) int {
	var report *verify.Report
	least := int(^uint(0) >> 1)
	if !errors.As(err, &report) {
		return least
	}
	for _, v := range report.Violations {
		text, found := strings.CutPrefix(v.Object, "steps[")
		number, _, _ := strings.Cut(text, "]")
		if n, err := strconv.Atoi(number); found && err == nil {
			least = min(least, n)
		}
	}
	return least
}

// Plan is the plan if it passes the check. Otherwise it is one of another effort that does, with a warning: it is
// found in another way. The error is that of the first plan where none passes.
//
// Whether a refused pod could have been given a place is a question of quality, and costs more than the rest:
// "plimsoll verify" asks it.
func Plan(ctx context.Context, planner provisioning.Planner, p scheduling.Problem, plan *scheduling.Plan) (*scheduling.Plan, error) {
	check := verify.Checker{Policy: planner.Policy, SkipRefusals: true}
	first := check.Plan(p, plan)
	if first == nil {
		return plan, nil
	}
	planner.Observer, ctx = nil, context.WithoutCancel(ctx)
	for _, effort := range []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault} {
		planner.Policy.Effort = effort
		other, err := planner.Plan(ctx, p)
		if err == nil && check.Plan(p, other) == nil {
			other.Warnings = append(other.Warnings, rejected("this plan is of another effort, because the first plan", first))
			return other, nil
		}
	}
	return nil, first
}

// rejected is the warning that something did not pass the check.
func rejected(what string, err error) scheduling.Warning {
	var v verify.Violation
	text := err.Error()
	if errors.As(err, &v) {
		text = v.Error()
	}
	return scheduling.Warning{Object: "plan", Message: fmt.Sprintf("%s did not pass the check of every plan (%s); this is a bug of plimsoll, please report it", what, text)}
}
