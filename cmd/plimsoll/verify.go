package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/samber/lo"
	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// verifyCommand checks a plan that was made before.
func verifyCommand(a *app) *cobra.Command {
	var input inputFlags
	var how solverFlags
	var what plannerFlags
	var file string
	cmd := &cobra.Command{
		Use:   "verify -f FILE [-f FILE]... --plan FILE",
		Short: "Check a plan and its lower bound with independent code",
		Long: `Verify reads the manifests of a plan and the plan itself, in JSON or YAML, and checks with
code independent of the planner: every pod is listed once, every node has capacity for its
pods and may be launched by its NodePool, limits are respected, sums are right, and the lower
bound is proven. It prints the amounts that add up to the lower bound. For a plan of "plimsoll
consolidate" it replays the steps. The bill of a plan with --billing is checked, too.

The plan states its settings, e.g. --no-spot, and the time for which it was made (--now): these
are the defaults of verify's flags, and a flag with another value is told. Pass all settings for
a plan that states none, such as one of the library.`,
		Example: `  plimsoll plan -f shop.yaml -o json > plan.json
  plimsoll verify -f shop.yaml --plan plan.json
  plimsoll consolidate -f cluster.json --no-spot -o json > moves.json
  plimsoll verify -f cluster.json --plan moves.json`,
		Args: noArguments("; name manifests with -f and the plan with --plan"),
		RunE: a.does(func(context.Context) error {
			if file == "" {
				return usagef("no plan to verify: name it with --plan FILE")
			}
			if err := input.beside(file); err != nil {
				return err
			}
			plan, moves, planErr := readAnyPlan(a, file)
			var settings map[string][]string
			switch {
			case plan != nil:
				settings = plan.Settings
			case moves != nil:
				settings = moves.Settings
			}
			prices := pricedBy(a.flags, settings)
			differ, err := adopt(a.flags, file, settings)
			if err != nil {
				return err
			}
			solver, err := how.solver(&input.market)
			if err != nil {
				return err
			}
			p, err := input.load(a)
			if err := errors.Join(err, planErr); err != nil {
				if prices != "" {
					a.say("%s are settings of plan %s", prices, file)
				}
				return err
			}
			if p.bills != nil && plan != nil && !bills.Draws(plan) {
				p.bills.AtListPrices(&p.Problem) // because this plan was made at list prices
			}
			if err := provisioning.Validate(&p.Problem); err != nil {
				return err
			}
			if moves != nil {
				return verifyMoves(a, what.planner(solver), p, moves, prices, differ)
			}
			proof, err := verify.Checker{Policy: solver}.Prove(p.Problem, plan)
			if err = errors.Join(err, p.bills.Judge(plan.Bill, plan.Launches)); err != nil {
				return a.refused(err, p.firstUnknown(nodesOf(plan), podsOf(plan)), differ)
			}
			s := plan.Summary
			including := ""
			if s.ExpectedPerHour > 0 {
				including = ", including " + beside(s.NodeOverheadPerHour, s.Nodes, s.ExpectedPerHour-s.PricePerHour)
			}
			if room := s.RoomKept; room != nil {
				including += fmt.Sprintf(", with room for %d of %s", room.Existing+room.Launched, figures.Count(room.Pods, "virtual pod"))
			}
			fmt.Fprintf(&a.stdout, "The plan is valid: %d of %d pods placed on %s and %s, for %s per hour%s.\n",
				s.Placed, s.Pods, figures.Count(s.Nodes, "new node"), figures.Count(len(plan.Existing), "existing node"), figures.USD(objective(&s)), including)
			printProof(&a.stdout, proof, s.LowerBoundPerHour)
			printBill(&a.stdout, plan.Bill)
			a.verifiedWith(prices, differ)
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
func verifyMoves(a *app, planner disruption.Planner, p *problem, plan *disruption.ConsolidationPlan, prices, differ string) error {
	proof, err := verify.StepsChecker{Planner: planner}.Prove(p.cluster(planner), plan)
	if err = errors.Join(err, p.bills.JudgeSteps(plan.Bill, plan.Steps)); err != nil {
		return a.refused(err, p.firstUnknown(nodesOfMoves(plan), podsOfMoves(plan)), differ)
	}
	s := plan.Summary
	before, after := totals(&s)
	fmt.Fprintf(&a.stdout, "The plan is valid: %s from %s to %s, %s, from %s to %s per hour.\n", figures.Count(len(plan.Steps), "step"),
		figures.Count(s.NodesBefore, "node"), figures.Count(s.NodesAfter, "node"), figures.Count(s.PodsMoved, "pod")+" rescheduled", figures.USD(before), figures.USD(after))
	printProof(&a.stdout, proof, s.LowerBoundPerHour)
	printBill(&a.stdout, plan.Bill)
	a.verifiedWith(prices, differ)
	return nil
}

// verifiedWith says of a valid plan by which prices that it names itself, and with which other settings, it was verified; "" for none.
func (a *app) verifiedWith(prices, differ string) {
	if prices != "" {
		fmt.Fprintf(&a.stdout, "Verified by the prices that the plan names: %s.\n", prices)
	}
	if differ != "" {
		fmt.Fprintf(&a.stdout, "Verified with %s.\n", differ)
	}
}

// refused says first of a plan that breaks rules if it has an object that the input does not have, or was verified with
// other settings, because then all else may follow from that, and returns the error.
func (a *app) refused(err error, unknown, differ string) error {
	if differ != "" {
		a.say("error: verified with %s", differ)
	}
	if unknown != "" {
		a.say("error: the plan is not of this input: %s does not exist in it", unknown)
	}
	return err
}

// firstUnknown is the first of some nodes and pods that the input does not have, as kind/name; "" if it has all.
func (p *problem) firstUnknown(nodes, pods []string) string {
	known := map[string]bool{}
	for _, node := range p.Problem.Nodes {
		known["node/"+node.Name] = true
	}
	for _, pod := range slices.Concat(p.Problem.Pods, p.Problem.Running) {
		known["pod/"+scheduling.PodName(pod)] = true
	}
	for i, name := range slices.Concat(nodes, pods) {
		if object := lo.Ternary(i < len(nodes), "node/", "pod/") + name; !known[object] {
			return object
		}
	}
	return ""
}

// nodesOf are the existing nodes of a plan of launches, and podsOf its pods, by name.
func nodesOf(plan *scheduling.Plan) []string {
	return lo.Map(plan.Existing, func(a scheduling.Assignment, _ int) string { return a.Node })
}

func podsOf(plan *scheduling.Plan) []string {
	return slices.Concat(
		lo.FlatMap(plan.Existing, func(a scheduling.Assignment, _ int) []string { return a.Pods }),
		lo.FlatMap(plan.Launches, func(l scheduling.Launch, _ int) []string { return l.Pods }),
		lo.Map(plan.Unschedulable, func(u scheduling.Unschedulable, _ int) string { return u.Pod }))
}

// nodesOfMoves are the nodes of a consolidation plan, and podsOfMoves the pods that it evicts, by name.
func nodesOfMoves(plan *disruption.ConsolidationPlan) []string {
	return lo.Map(plan.Nodes, func(v disruption.Verdict, _ int) string { return v.Node })
}

func podsOfMoves(plan *disruption.ConsolidationPlan) []string {
	return lo.FlatMap(plan.Steps, func(s disruption.Step, _ int) []string {
		return lo.Map(s.Evictions, func(e disruption.Eviction, _ int) string { return e.Pod })
	})
}

// printProof prints the terms of a lower bound, so that a reader can add them up.
func printProof(w io.Writer, p *verify.Proof, stated offerings.Price) {
	if stated <= 0 {
		fmt.Fprintln(w, "The plan states no lower bound.")
		return
	}
	by := "by the existing nodes alone"
	switch {
	case p.Cases > 1:
		by = fmt.Sprintf("by a certificate of kind %q with %d cases, of which this is the weakest", p.Kind, p.Cases)
	case p.Kind != "":
		by = fmt.Sprintf("by a certificate of kind %q", p.Kind)
	}
	fmt.Fprintf(w, "The lower bound of %s per hour is proven %s. In USD per hour:\n", figures.USD(stated), by)
	for _, t := range p.Terms {
		fmt.Fprintf(w, "  %s  %s\n", figures.Exact(t.Amount), t.Text)
	}
	fmt.Fprintf(w, "  %s  proven; the plan states %s\n", figures.Exact(p.Proven), strings.TrimSpace(figures.Exact(stated)))
}

// printBill says of a plan's bill that it was checked, too.
func printBill(w io.Writer, b *billing.Statement) {
	if b != nil {
		fmt.Fprintf(w, "The bill is right: %s per hour before the plan, %s after it.\n", figures.USD(b.Before.PerHour), figures.USD(b.After.PerHour))
	}
}

// readPlan reads a plan of launches from a file or from stdin.
func readPlan(a *app, name string) (*scheduling.Plan, error) {
	plan, moves, err := readAnyPlan(a, name)
	if err == nil && moves != nil {
		err = fmt.Errorf("plan %s: is a consolidation plan, which has no launches to explain", name)
	}
	return plan, err
}

// readAnyPlan reads a plan of launches or of disruption from a file or from stdin.
func readAnyPlan(a *app, name string) (*scheduling.Plan, *disruption.ConsolidationPlan, error) {
	in := a.stdin
	if name != manifest.Stdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read %s: %w", name, withoutPath(err))
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
