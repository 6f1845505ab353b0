package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// solverFlags say how to decide.
type solverFlags struct {
	effort     string
	strategy   string
	minValues  string
	weights    string
	maxOptions int
	timeout    time.Duration
	knobs      knobFlags
}

// register adds the flags to a command.
func (f *solverFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.effort, "effort", "default", "how hard to search: `EFFORT` is fast, default, thorough or a number; default is 1000")
	flags.DurationVar(&f.timeout, "timeout", 0, "stop searching after this time and print the best plan so far; 0 is never")
	grouped(cmd, groupSearch)
	flags.StringVar(&f.strategy, "strategy", string(offerings.LowestPrice), "what makes an offering the better one: `STRATEGY` is "+list(strategies()))
	flags.StringVar(&f.minValues, "min-values-policy", "strict", "what to do where a NodePool's minValues cannot be met: `POLICY` strict places nothing against them, best-effort lowers them")
	flags.StringVar(&f.weights, "weights", "strict", "what NodePool weights mean: `POLICY` strict takes the heaviest pool that can hold a pod, ignore lets price choose")
	flags.IntVar(&f.maxOptions, "max-options", 0, "list at most `N` options for each launch; 0 is 60")
	f.knobs.register(cmd)
}

// strategies returns the names of the strategies.
func strategies() []string {
	var out []string
	for _, s := range offerings.Strategies() {
		out = append(out, string(s))
	}
	return out
}

// solver returns the solver that the flags describe.
func (f *solverFlags) solver(market *marketFlags) (s scheduling.Solver, err error) {
	if s.Effort, err = parseEffort(f.effort); err != nil {
		return s, err
	}
	strategy, err := oneOf("strategy", f.strategy, strategies()...)
	if err != nil {
		return s, err
	}
	s.Ranking.Strategy = offerings.Strategy(strategy)
	if s.Ranking.CapacityTypes, err = market.order(); err != nil {
		return s, err
	}
	if s.Filters, err = market.keep(); err != nil {
		return s, err
	}
	policy, err := oneOf("min-values-policy", strings.ToLower(f.minValues), "strict", "best-effort")
	if err != nil {
		return s, err
	}
	s.MinValues = scheduling.MinValuesStrict
	if policy == "best-effort" {
		s.MinValues = scheduling.MinValuesBestEffort
	}
	weights, err := oneOf("weights", strings.ToLower(f.weights), "strict", "ignore")
	if err != nil {
		return s, err
	}
	s.Weights = scheduling.WeightStrict
	if weights == "ignore" {
		s.Weights = scheduling.WeightIgnore
	}
	if f.maxOptions < 0 {
		return s, usagef("--max-options %d: must not be negative", f.maxOptions)
	}
	if f.timeout < 0 {
		return s, usagef("--timeout %s: must not be negative", f.timeout)
	}
	s.MaxOptions = f.maxOptions
	err = f.knobs.apply(&s)
	return s, err
}

// parseEffort reads the name of an effort or a number.
func parseEffort(text string) (scheduling.Effort, error) {
	switch text {
	case "fast":
		return scheduling.EffortFast, nil
	case "default", "":
		return scheduling.EffortDefault, nil
	case "thorough":
		return scheduling.EffortThorough, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, usagef("--effort %q: want fast, default, thorough or a number from 1", text)
	}
	return scheduling.Effort(n), nil
}

// solve decides, and has the decision checked by a second opinion before anybody
// sees it.
func (f *solverFlags) solve(ctx context.Context, a *app, s scheduling.Solver, p *problem) (plan *scheduling.Plan, err error) {
	err = f.search(ctx, a, fmt.Sprintf("planning %s", count(len(p.Problem.Pods), "pod")), func(ctx context.Context) error {
		plan, err = s.Solve(ctx, p.Problem)
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, a.checked(quickCheck(s).Plan(p.Problem, plan))
}

// search runs a search for as long as --timeout and the user let it, with its progress shown.
func (f *solverFlags) search(ctx context.Context, a *app, what string, run func(context.Context) error) error {
	a.searching.Store(true)
	limited := context.Context(untilInterrupted{ctx})
	if f.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(limited, f.timeout)
		defer cancel()
	}
	done := a.progress(what)
	err := run(limited)
	done()
	switch {
	case ctx.Err() != nil:
		a.stopped = "an interrupt"
	case limited.Err() != nil:
		a.stopped = "--timeout"
	}
	return err
}

// quickCheck is the check that every plan goes through. Whether a refused pod could have
// been given a place is a question of quality, and costs more than the rest: "plimsoll
// verify" asks it.
func quickCheck(s scheduling.Solver) verify.Checker {
	return verify.Checker{Solver: s, SkipRefusals: true}
}

// checked passes on what a second opinion says of a plan of our own.
func (a *app) checked(err error) error {
	if err != nil {
		a.say("The plan did not pass the check that every plan goes through. This is a defect of plimsoll, please report it.")
	}
	return err
}
