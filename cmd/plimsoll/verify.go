package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// verifyCommand checks a plan that was made before.
func (a *app) verifyCommand() *cobra.Command {
	var input inputFlags
	var how solverFlags
	var what plannerFlags
	var file string
	cmd := &cobra.Command{
		Use:   "verify -f FILE [-f FILE]... --plan FILE",
		Short: "Check that a plan obeys every rule",
		Long: `Verify reads the manifests that a plan was made for and the plan itself, in JSON or
YAML, and checks with code of its own that every pod stands in it once, that every
machine holds its pods and may be bought, that limits are kept and sums are right, and
that the lower bound is proven. Give it the --catalog, --prices, --filter, --capacity-types,
--strategy, --max-options, --min-values-policy, --weights and --goal that the plan was made
with, and whatever else said what kind of plan is wanted, such as --no-spot.

Of a plan of "plimsoll consolidate" it replays the steps: give it the --now that the plan was
made with, and what else said what may be disrupted.`,
		Example: `  plimsoll plan -f shop.yaml -o json > plan.json
  plimsoll verify -f shop.yaml --plan plan.json
  plimsoll consolidate -f cluster.json --now 2026-11-21T09:00:00Z -o json > moves.json
  plimsoll verify -f cluster.json --now 2026-11-21T09:00:00Z --plan moves.json`,
		Args: noArguments("; name manifests with -f and the plan with --plan"),
		RunE: a.does(func(context.Context) error {
			solver, err := how.solver(&input.market)
			if err != nil {
				return err
			}
			if file == "" {
				return usagef("no plan to verify: name it with --plan FILE")
			}
			if err := input.beside(file); err != nil {
				return err
			}
			plan, moves, planErr := a.readAnyPlan(file)
			p, err := input.load(a)
			if err := errors.Join(err, planErr); err != nil {
				return err
			}
			if err := provisioning.Validate(&p.Problem); err != nil {
				return err
			}
			if moves != nil {
				return a.verifyMoves(what.planner(solver), p, moves)
			}
			if err := (verify.Checker{Policy: solver}).Plan(p.Problem, plan); err != nil {
				return err
			}
			s := plan.Summary
			fmt.Fprintf(&a.stdout, "The plan obeys every rule: %d of %d pods placed on %s and %s, for %s per hour.\n",
				s.Placed, s.Pods, figures.Count(s.Nodes, "new machine"), figures.Count(len(plan.Existing), "present one"), figures.USD(s.PricePerHour))
			return nil
		}),
	}
	input.register(cmd)
	how.register(cmd)
	what.register(cmd)
	for _, unread := range []string{"effort", "timeout"} {
		_ = cmd.Flags().MarkHidden(unread) // it was just registered, so it is there
	}
	cmd.Flags().StringVar(&file, "plan", "", "`FILE` that holds the plan, or - for stdin")
	grouped(cmd, groupInput)
	return cmd
}

// verifyMoves checks a plan of consolidate.
func (a *app) verifyMoves(planner disruption.Planner, p *problem, plan *disruption.ConsolidationPlan) error {
	if err := (verify.StepsChecker{Planner: planner}).Steps(p.cluster(planner), plan); err != nil {
		return err
	}
	s := plan.Summary
	fmt.Fprintf(&a.stdout, "The plan obeys every rule: %s from %s to %s, %s, from %s to %s per hour.\n", figures.Count(len(plan.Steps), "step"),
		figures.Count(s.NodesBefore, "node"), figures.Count(s.NodesAfter, "node"), figures.Count(s.PodsMoved, "pod")+" moved", figures.USD(s.PricePerHourBefore), figures.USD(s.PricePerHourAfter))
	return nil
}

// readPlan reads a plan of launches from a file or from stdin.
func (a *app) readPlan(name string) (*scheduling.Plan, error) {
	plan, moves, err := a.readAnyPlan(name)
	if err == nil && moves != nil {
		err = fmt.Errorf("plan %s: is one of consolidate, and launches are asked about", name)
	}
	return plan, err
}

// readAnyPlan reads a plan of launches or of disruption from a file or from stdin.
func (a *app) readAnyPlan(name string) (*scheduling.Plan, *disruption.ConsolidationPlan, error) {
	in := a.stdin
	if name != manifest.Stdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, fmt.Errorf("--plan: %w", err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	plan, moves, err := manifest.ReadAnyPlan(in)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", name, err)
	}
	return plan, moves, nil
}
