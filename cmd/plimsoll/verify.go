package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// verifyCommand checks a plan that was made before.
func (a *app) verifyCommand() *cobra.Command {
	var input inputFlags
	var how solverFlags
	var file string
	cmd := &cobra.Command{
		Use:   "verify -f FILE [-f FILE]... --plan FILE",
		Short: "Check that a plan obeys every rule",
		Long: `Verify reads the manifests that a plan was made for and the plan itself, in JSON or
YAML, and checks with code of its own that every pod stands in it once, that every
machine holds its pods and may be bought, that limits are kept and sums are right, and
that the lower bound is proven. Give it the --catalog, --filter, --capacity-types,
--strategy, --max-options, --min-values-policy, --weights and --goal that the plan was made
with, and whatever else said what kind of plan is wanted, such as --no-spot.`,
		Example: `  plimsoll plan -f shop.yaml -o json > plan.json
  plimsoll verify -f shop.yaml --plan plan.json`,
		Args: noArguments("; name manifests with -f and the plan with --plan"),
		RunE: a.does(func(context.Context) error {
			solver, err := how.solver(&input.market)
			if err != nil {
				return err
			}
			if file == "" {
				return usagef("no plan to verify: name it with --plan FILE")
			}
			if file == manifest.Stdin && slices.Contains(input.files, manifest.Stdin) {
				return usagef("stdin cannot hold both the manifests and the plan")
			}
			plan, planErr := a.readPlan(file)
			p, err := input.load(a)
			if err := errors.Join(err, planErr); err != nil {
				return err
			}
			if err := p.Problem.Validate(); err != nil {
				return err
			}
			if err := (verify.Checker{Solver: solver}).Plan(p.Problem, plan); err != nil {
				return err
			}
			s := plan.Summary
			fmt.Fprintf(&a.stdout, "The plan obeys every rule: %d of %d pods placed on %s and %s, for %s per hour.\n",
				s.Placed, s.Pods, count(s.Nodes, "new machine"), count(len(plan.Existing), "present one"), usd(s.PricePerHour))
			return nil
		}),
	}
	input.register(cmd)
	how.register(cmd)
	for _, unread := range []string{"effort", "timeout"} {
		_ = cmd.Flags().MarkHidden(unread) // it was just registered, so it is there
	}
	cmd.Flags().StringVar(&file, "plan", "", "`FILE` that holds the plan, or - for stdin")
	return cmd
}

// readPlan reads a plan from a file or from stdin.
func (a *app) readPlan(name string) (*scheduling.Plan, error) {
	in := a.stdin
	if name != manifest.Stdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("--plan: %w", err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	plan, err := manifest.ReadPlan(in)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", name, err)
	}
	return plan, nil
}
