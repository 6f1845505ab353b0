package schedulingtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Audit plans the problem and reports, joined into one error, every rule of plans that is broken:
//
//   - the plan breaks no rule ([verify.Checker.Plan]), its certificate proves its lower bound, and its price is not
//     below that bound;
//   - the problem is unchanged;
//   - planning the problem again in another order gives the same bytes;
//   - the plan's JSON reads back and writes the same bytes again.
//
// When the planner returns an error, Audit returns that error unchanged, and no plan.
func Audit(ctx context.Context, solver scheduling.Policy, p scheduling.Problem) (*scheduling.Plan, error) {
	before := inJSON(p)
	plan, err := provisioning.Planner{Policy: solver}.Plan(ctx, p)
	var changed error
	if after := inJSON(p); !bytes.Equal(before, after) {
		changed = fmt.Errorf("the solver changed its input: %s", difference(before, after))
	}
	if err != nil {
		if changed != nil {
			err = errors.Join(err, changed)
		}
		return nil, err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return plan, fmt.Errorf("the plan has no JSON form: %w", err)
	}
	return plan, errors.Join(changed, breaches(solver, p, plan), readsBack(text), repeats(ctx, solver, p, text))
}

// breaches are the rules about plans that the plan breaks.
func breaches(solver scheduling.Policy, p scheduling.Problem, plan *scheduling.Plan) error {
	if plan == nil {
		return errors.New("neither a plan nor an error")
	}
	err := verify.Checker{Policy: solver}.Plan(p, plan)
	s := &plan.Summary
	if price := max(s.PricePerHour, s.ExpectedPerHour); s.LowerBoundPerHour > price {
		err = errors.Join(err, fmt.Errorf("the lower bound %v exceeds the price %v", s.LowerBoundPerHour, price))
	}
	return err
}

// readsBack reports a plan that JSON does not carry.
func readsBack(text []byte) error {
	var plan scheduling.Plan
	if err := json.Unmarshal(text, &plan); err != nil {
		return fmt.Errorf("the plan's JSON does not read back: %w", err)
	}
	again, err := json.Marshal(&plan)
	if err != nil {
		return fmt.Errorf("the plan read back has no JSON form: %w", err)
	}
	if !bytes.Equal(text, again) {
		return fmt.Errorf("the plan's JSON changes when it is read and written: %s", difference(text, again))
	}
	return nil
}

// repeats solves the problem in another order and reports when the plan is not the one
// that is wanted.
func repeats(ctx context.Context, solver scheduling.Policy, p scheduling.Problem, want []byte) error {
	plan, err := provisioning.Planner{Policy: solver}.Plan(ctx, Shuffle(p, uint64(len(want))))
	if err != nil {
		return fmt.Errorf("solving in another order: %w", err)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("solving in another order: the plan has no JSON form: %w", err)
	}
	if !bytes.Equal(text, want) {
		return fmt.Errorf("solving in another order gives another plan: %s", difference(want, text))
	}
	return nil
}

// difference shows where two texts part.
func difference(want, got []byte) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	cut := func(text []byte) string {
		return string(text[max(0, i-60):min(len(text), i+60)])
	}
	return fmt.Sprintf("at byte %d\n  want …%s…\n  got  …%s…", i, cut(want), cut(got))
}
